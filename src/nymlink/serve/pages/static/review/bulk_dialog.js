// Accepts all first candidates above a confidence, after a preview of the effect.

import { button, element, labelled } from "../elements.js";
import { openDialog, statusLine } from "./dialog.js";
import { count } from "./preview.js";

const PAUSE = 200;
const FIRST = 0.9;

// done(message): called when candidates were accepted.
export function bulkDialog({ routes, reviewer, done }) {
  const above = element("input", { type: "number", min: 0, max: 1, step: 0.01, id: "above", inputmode: "decimal" });
  above.value = FIRST;
  const { line, say } = statusLine();
  const accept = button("Accept", run);
  openDialog(
    "Accept the surest",
    element("p", {}, "Accept the first candidates of undecided terms with at least this confidence:"),
    labelled("Confidence", above),
    line,
    element("p", { class: "row" }, accept),
    element("p", { class: "hint" }, "One undo takes all of them back."),
  );
  let asked = 0;
  above.addEventListener("input", () => {
    const mine = ++asked;
    setTimeout(() => mine === asked && look(), PAUSE);
  });
  above.focus();
  look();

  async function ask(dry) {
    return routes.accept({ reviewer, above: Number(above.value), dry_run: dry });
  }

  async function look() {
    const mine = ++asked;
    accept.disabled = true;
    if (above.value === "") return say("Write a confidence from 0 to 1.");
    try {
      const found = await ask(true);
      if (mine !== asked) return;
      say(meaning(found));
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
      accept.closest("dialog").close();
      done(`${count(found.terms, "term")} accepted. Undo takes all of them back.`);
    } catch (error) {
      say(error.message);
      accept.disabled = false;
    }
  }
}

export function meaning({ terms, rows, expected_wrong: wrong }) {
  if (!terms) return "No undecided term has this confidence.";
  const about = wrong < 0.5 ? "probably none" : `about ${Math.round(wrong).toLocaleString("en")}`;
  return `${count(terms, "term")} (${count(rows, "row")}): ${about} of ${terms.toLocaleString("en")} will be wrong.`;
}
