// Accepts the first candidates of the filtered terms above a confidence, after a preview; lists earlier ones, to undo.

import { button, element, labelled } from "../elements.js";
import { percent } from "../why.js";
import { openDialog, statusLine } from "./dialog.js";
import { Filters } from "./filters.js";
import { count } from "./preview.js";

const PAUSE = 200;
const FIRST = 0.9;

// filters: those of the list; filtered: how many terms it has; done(message): called when candidates were accepted, or
// earlier ones undone; show(): shows the terms accepted so far.
export async function bulkDialog({ routes, reviewer, filters, filtered, done, show }) {
  const { batches } = await routes.summary();
  const above = element("input", { type: "number", min: 0, max: 1, step: 0.01, id: "above", inputmode: "decimal" });
  above.value = FIRST;
  const { line, say } = statusLine();
  const accept = button("Accept", run);
  const sample = element("div", { class: "sample" });
  const dialog = openDialog(
    "Accept the surest",
    element("p", {}, `Accept the first candidates of the undecided terms of the list (${count(filtered, "term")}, as filtered now) with at least this confidence:`),
    labelled("Confidence", above),
    line,
    sample,
    element("p", { class: "row" }, accept),
    element("p", { class: "hint" }, "Terms with an abbreviation are left out: look at them one by one."),
    earlier(),
  );
  dialog.classList.add("large");
  let asked = 0;
  above.addEventListener("input", () => {
    const mine = ++asked;
    setTimeout(() => mine === asked && look(), PAUSE);
  });
  above.focus();
  look();

  async function ask(dry) {
    return routes.accept({ reviewer, above: Number(above.value), filter: Filters.request(filters), dry_run: dry });
  }

  async function look() {
    const mine = ++asked;
    accept.disabled = true;
    sample.replaceChildren();
    if (above.value === "") return say("Write a confidence from 0 to 1.");
    try {
      const found = await ask(true);
      if (mine !== asked) return;
      say(meaning(found));
      if (found.terms) sample.replaceChildren(sampleTable(found));
      accept.disabled = !found.terms;
      accept.textContent = `Accept ${found.terms.toLocaleString("en")}`;
    } catch (error) {
      if (mine === asked) say(error.message);
    }
  }

  async function run() {
    accept.disabled = true;
    try {
      const found = await ask(false);
      dialog.close();
      done(`${count(found.terms, "term")} accepted. Undo takes all of them back.`);
    } catch (error) {
      say(error.message);
      accept.disabled = false;
    }
  }

  function earlier() {
    if (!batches.length) return "";
    const item = ({ batch, reviewer: who, at, terms }) => {
      const undo = button("Undo", () => takeBack(batch, undo), { class: "plain small", "aria-label": `Undo ${count(terms, "term")} of ${new Date(at).toLocaleString()}` });
      return element("li", {}, `${new Date(at).toLocaleString()}: ${count(terms, "term")} by ${who} `, who === reviewer ? undo : "");
    };
    const shown = button("Show these terms", () => {
      dialog.close();
      show();
    }, { class: "plain small" });
    return element("section", {}, element("h3", {}, "Accepted so far, and not looked at since"), element("ul", {}, ...batches.map(item)), shown);
  }

  async function takeBack(batch, pressed) {
    pressed.disabled = true;
    try {
      const { undone } = await routes.undo(reviewer, batch);
      dialog.close();
      done(`${count(undone.length, "decision")} undone.`);
    } catch (error) {
      say(error.message);
      pressed.disabled = false;
    }
  }
}

function sampleTable({ terms, sample }) {
  const row = ({ text, frequency, name, concept_id: id, confidence }) =>
    element(
      "tr",
      {},
      element("td", { dir: "auto" }, text, frequency > 1 ? element("span", { class: "why" }, ` × ${frequency.toLocaleString("en")}`) : ""),
      element("td", {}, name, " ", element("span", { class: "id" }, id)),
      element("td", { class: "number" }, percent(confidence)),
    );
  const title = sample.length < terms ? `${sample.length} of them, the least sure first` : "All of them, the least sure first";
  const heads = ["Term", "Concept", "Confidence"].map((head) => element("th", { scope: "col" }, head));
  const table = element("table", {}, element("caption", {}, title), element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...sample.map(row)));
  return element("div", { class: "rows", tabindex: 0, role: "region", "aria-label": title }, table);
}

export function meaning({ terms, rows, expected_wrong: wrong, abbreviations }) {
  const left = abbreviations ? ` ${count(abbreviations, "term")} with an abbreviation ${abbreviations === 1 ? "is" : "are"} left out.` : "";
  if (!terms) return `No undecided term of the list has this confidence.${left}`;
  const about = wrong < 0.5 ? "probably none" : `about ${Math.round(wrong).toLocaleString("en")}`;
  return `${count(terms, "term")} (${count(rows, "row")}): ${about} of ${terms.toLocaleString("en")} will be wrong.${left}`;
}
