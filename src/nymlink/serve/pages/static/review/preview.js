// Shows how a file is read, and changes that before the file is added.

import { button, choice, element, labelled } from "../elements.js";
import { COLUMNS, previewFile } from "./routes.js";
import { t } from "../words.js";

const ENCODINGS = [
  ...["utf-8", "utf-16", "windows-1252", "iso-8859-1", "iso-8859-15", "windows-1250", "windows-1251", "windows-1253"],
  ...["windows-1254", "iso-8859-2", "koi8-r", "mac-roman", "cp437", "gb18030", "big5", "shift_jis", "euc-jp", "euc-kr"],
];
const DELIMITERS = [[",", "comma"], ["\t", "tab"], [";", "semicolon"], ["|", "bar"], ["none", "none"]].map(([value, name]) => [value, t(`d_${name}`)]);
// What stays chosen after a change of the layout.
const LAYOUT = {
  encoding: ["encoding", "delimiter", "header_row"],
  delimiter: ["encoding", "delimiter", "header_row"],
  sheet: ["sheet"],
  header_row: ["encoding", "delimiter", "sheet", "header_row"],
};
const COMPOSITES = [["given", t("cell_given")], ["always", t("cell_always")]];
const PROBLEMS_SHOWN = 5;
const TOO_LARGE = 413;

// The roles of columns; only the first needs a column.
const ROLES = ["column", ...COLUMNS];

export class Preview {
  // place: element to fill; add(file, how): adds the file or throws an error.
  constructor(place, { add, say }) {
    Object.assign(this, { place, add, say, asked: 0 });
  }

  // how: the settings; changed: the field that keeps the focus.
  async show(file, how = {}, changed = null) {
    const mine = ++this.asked;
    this.say(t("reading", { name: file.name }));
    this.#wait(true);
    try {
      const found = await previewFile(file, how);
      if (mine !== this.asked) return;
      this.say("");
      this.place.ariaBusy = "false";
      const { add, fields } = this.#draw(file, found, how);
      (fields.get(changed)?.[1] ?? add).focus();
    } catch (error) {
      if (mine !== this.asked) return;
      this.#wait(false);
      this.say(error.status === TOO_LARGE ? t("too_large", { name: file.name, command: "nymlink project add" }) : `${file.name}: ${error.message}`);
    }
  }

  // A change before the next preview would be lost.
  #wait(on) {
    this.place.ariaBusy = String(on);
    for (const field of this.place.querySelectorAll("select,input,button:not(.plain)")) field.disabled = on;
  }

  #draw(file, found, how) {
    const columns = columnOptions(found.columns);
    const fields = new Map();
    // Binary formats have no encoding, and a single column has no delimiter.
    if (found.encoding) fields.set("encoding", [t("encoding"), choice(withValue(ENCODINGS, found.encoding), found.encoding)]);
    if (found.encoding) fields.set("delimiter", [t("delimiter"), choice(DELIMITERS, found.delimiter || "none")]);
    if (found.sheets.length > 1) fields.set("sheet", [t("sheet"), choice([["", how.sheet ? t("sheet_found") : t("sheet_found_is", { sheet: found.sheet })], ...found.sheets], how.sheet ?? "")]);
    if (found.header_row !== null) {
      const row = element("input", { type: "number", min: 1, step: 1, inputmode: "numeric", size: 4 });
      row.value = found.header_row;
      fields.set("header_row", [t("header_row"), row]);
    }
    for (const name of ROLES) {
      fields.set(name, [t(`role_${name}`), choice(name === "column" ? columns : [["", t("none")], ...columns], how[name] ?? found[name] ?? "")]);
    }
    fields.set("composites", [t("several_findings"), choice(COMPOSITES, how.composites ?? "given")]);
    // A header that is found may differ between sheets.
    const isFound = (name) => name === "header_row" && !how.header_row && fields.get(name)[1].value === String(found.header_row);
    const chosen = (...names) => Object.fromEntries(names.flatMap((name) => (fields.has(name) && !isFound(name) ? [[name, fields.get(name)[1].value]] : [])));
    for (const [name, [, field]] of fields) {
      // Another layout gives other columns, and another sheet another row of the header.
      const kept = LAYOUT[name] ?? [...fields.keys()];
      field.addEventListener("change", () => this.show(file, chosen(...kept), name));
    }
    const add = button(t("add_and_link"), () => this.#add(file, chosen(...fields.keys()), add));
    this.place.replaceChildren(
      element("h2", {}, t("file_rows", { name: file.name, rows: t("rows", { n: found.total_rows }) })),
      element("p", { class: "hint", lang: "en" }, found.guessed.join("; ")),
      element("p", { class: "row fields" }, ...[...fields.values()].map(([label, field]) => labelled(label, field))),
      problemList(found.problems),
      rowsTable(found),
      element("p", { class: "row" }, add, button(t("cancel"), () => this.place.replaceChildren(), { class: "plain" })),
    );
    return { add, fields };
  }

  async #add(file, how, pressed) {
    pressed.disabled = true;
    this.say(t("adding", { name: file.name }));
    try {
      await this.add(file, how);
      this.place.replaceChildren();
    } catch (error) {
      this.say(error.message);
      pressed.disabled = false;
    }
  }
}

function withValue(list, value) {
  return list.includes(value) ? list : [value, ...list];
}

// Columns are identified by name, or by number if several have the same name.
function columnOptions(columns) {
  const names = columns.map(({ name }) => name);
  return names.map((name, place) => {
    const unique = name && names.indexOf(name) === names.lastIndexOf(name);
    return unique ? [name, name] : [String(place + 1), name ? `${name} (${place + 1})` : t("column_number", { number: place + 1 })];
  });
}

function problemList({ rejected, repaired, first }) {
  const total = rejected + repaired;
  if (!total) return "";
  const lines = first.slice(0, PROBLEMS_SHOWN).map(({ line, message }) => element("li", {}, line ? t("line_problem", { line: String(line), message }) : message));
  return element("div", { class: "note" }, t("problems", { n: total, rejected, repaired }), element("ul", {}, ...lines));
}

function rowsTable(found) {
  const marked = found.columns.findIndex(({ name }) => name === found.column);
  const attributes = (place) => ({ ...(place === marked && { class: "terms" }) });
  const heads = found.columns.map(({ name }, place) => element("th", { scope: "col", ...attributes(place) }, name));
  const rows = found.rows.map((cells) => element("tr", {}, ...cells.map((cell, place) => element("td", { dir: "auto", ...attributes(place) }, cell))));
  return element(
    "div",
    { class: "rows", tabindex: 0, role: "region", "aria-label": t("first_rows") },
    element("table", {}, element("caption", {}, t("first_rows")), element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows)),
  );
}
