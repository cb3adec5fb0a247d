// Assigns the filtered terms, or a share of them, to a reviewer.

import { button, element, labelled } from "../elements.js";
import { openDialog, statusLine } from "./dialog.js";
import { Filters } from "./filters.js";
import { count } from "./preview.js";

// filters: those of the list; people: known names; done(message): called after the assignment.
export function assignDialog({ routes, filters, people, total, done }) {
  const name = element("input", { list: "people", maxlength: 100, autocomplete: "off", id: "assignee" });
  const share = element("input", { type: "number", min: 1, max: 100, step: 1, id: "share", inputmode: "numeric" });
  share.value = 100;
  const { line, say } = statusLine();
  const assign = button("Assign", run);
  openDialog(
    "Assign terms",
    element("p", {}, `The list, as filtered now, has ${count(total, "term")}.`),
    element("p", { class: "row" }, labelled("Reviewer", name), labelled("Share in %", share)),
    element("datalist", { id: "people" }, ...people.map((each) => new Option(each))),
    element("p", { class: "hint" }, "Terms with the fewest reviewers are assigned first. Two reviewers may have the same term; the filter “disagreements” lists their differences."),
    line,
    element("p", { class: "row" }, assign),
  );
  name.focus();

  async function run() {
    if (!name.value.trim()) return say("Write a name.");
    assign.disabled = true;
    try {
      const { assigned } = await routes.assign({ reviewer: name.value.trim(), filter: Filters.request(filters), share: Number(share.value) / 100 });
      assign.closest("dialog").close();
      done(`${count(assigned, "term")} assigned to ${name.value.trim()}.`);
    } catch (error) {
      say(error.message);
      assign.disabled = false;
    }
  }
}
