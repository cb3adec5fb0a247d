// Concepts to choose from, a line each; the selected one opens. For candidates, results of a search, and a tree.

import { button, element } from "../elements.js";
import { bars, conceptAddress, conceptOf, meaningOf, percent, reason } from "../why.js";
import { t } from "../words.js";

// role: role of the list; index: name of the index; take(concept): called by a click on a name; moved(row): called
// after a click beside it.
export class Choices {
  #active = -1;

  constructor({ id, label, index, take, moved = () => {}, role = "listbox", open = () => [] }) {
    Object.assign(this, { id, index, take, moved, role, open, rows: [] });
    this.mark = role === "list" ? "aria-current" : "aria-selected";
    this.list = element("div", { id, role, "aria-label": label, class: "choices" });
    this.list.addEventListener("click", (event) => {
      const place = [...this.list.children].indexOf(event.target.closest(".choice"));
      if (place < 0 || event.target.closest("a, button, .opened")) return;
      this.select(place);
      this.moved();
    });
  }

  get active() {
    return this.#active;
  }

  get selected() {
    return this.rows[this.#active] ?? null;
  }

  // rows: {id, name, key, reason, parts, confidence, chosen, contradiction, level, expanded, …}; id null for no concept.
  show(rows, active = -1) {
    const same = rows.length === this.rows.length && rows.every((row, place) => row.id === this.rows[place].id);
    this.rows = rows;
    this.list.replaceChildren(...rows.map((row, place) => this.#line(row, place)));
    if (!same) this.list.scrollTop = 0;
    this.select(active);
  }

  move(step) {
    if (this.rows.length) this.select(Math.max(0, Math.min(this.rows.length - 1, this.#active + step)));
  }

  select(place) {
    const before = this.list.children[this.#active];
    before?.setAttribute(this.mark, false);
    before?.querySelector(".opened")?.remove();
    this.#active = place;
    const line = this.list.children[place];
    if (!line) return;
    line.setAttribute(this.mark, true);
    this.#open(this.rows[place], line);
    line.scrollIntoView({ block: "nearest" });
  }

  #line(row, place) {
    const item = { listbox: "option", tree: "treeitem", list: "listitem" }[this.role];
    const number = row.confidence === undefined ? "" : percent(row.confidence);
    const line = element(
      "div",
      {
        id: `${this.id}-${place}`,
        class: row.chosen ? "choice chosen" : "choice",
        role: item,
        [this.mark]: false,
        ...(row.level && { "aria-level": row.level }),
        ...(row.expanded !== undefined && { "aria-expanded": row.expanded }),
      },
      row.key ? element("kbd", {}, row.key) : element("span", { class: "sign", "aria-hidden": "true" }, row.sign ?? ""),
      element(
        "span",
        { class: "what" },
        button(element("span", { class: "name" }, row.name), () => this.take(row), { class: "take", "aria-pressed": Boolean(row.chosen), tabindex: this.role === "list" ? 0 : -1 }),
        row.id ? element("span", { class: "id" }, ` ${row.id}`) : "",
      ),
      element("span", { class: row.contradiction ? "reason note" : "reason", dir: "auto" }, row.contradiction ? t("contradicts", { what: row.contradiction }) : row.reason ?? ""),
      element("span", { class: "number" }, number),
    );
    if (row.level) line.style.paddingInlineStart = `${row.level * 0.75}rem`;
    return line;
  }

  #open(row, line) {
    if (!row.id) return;
    const place = element("div", { class: "opened" });
    const draw = (concept, known) =>
      place.replaceChildren(
        ...(row.parts ? [bars(row.parts)] : []),
        ...meaningOf(concept),
        element("p", { class: "why" }, known ? element("a", { href: conceptAddress(this.index, row.id), target: "_blank", rel: "noopener" }, t("page_of", { id: row.id })) : row.id, ...this.open(row)),
      );
    draw(row, false);
    line.append(place);
    if (!this.index) return;
    conceptOf(this.index, row.id).then((concept) => {
      draw(concept, true);
      line.scrollIntoView({ block: "nearest" });
    }, () => {});
  }
}

// A line for a candidate of a term, or for a found concept.
export function lineOf(candidate) {
  return { ...candidate, reason: candidate.matched ? reason(candidate) : "" };
}
