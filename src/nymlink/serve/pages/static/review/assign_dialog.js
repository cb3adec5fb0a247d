// Assign terms to a reviewer: those that the filters show, or a share of them.

import { button, element, labelled } from "../elements.js";
import { openDialog, statusLine } from "./dialog.js";
import { count } from "./preview.js";

// filters: what the list shows; people: names that are known; done(message): they were assigned.
export function assignDialog({ routes, filters, people, total, done }) {
  const name = element("input", { list: "people", maxlength: 100, autocomplete: "off", id: "assignee" });
  const share = element("input", { type: "number", min: 1, max: 100, step: 1, id: "share", inputmode: "numeric" });
  share.value = 100;
  const { line, say } = statusLine();
  const assign = button("Assign", run);
  openDialog(
    "Assign terms",
    element("p", {}, `Of the ${count(total, "term")} in the list, as it is filtered now:`),
    element("p", { class: "row" }, labelled("Reviewer", name), labelled("Share in %", share)),
    element("datalist", { id: "people" }, ...people.map((each) => new Option(each))),
    element("p", { class: "hint" }, "Those come first that fewer reviewers have. The same terms may be given to two reviewers: where they differ is a queue of its own."),
    line,
    element("p", { class: "row" }, assign),
  );
  name.focus();

  async function run() {
    if (!name.value.trim()) return say("Write a name.");
    assign.disabled = true;
    try {
      const { q: text, sort, descending, ...rest } = filters;
      const filter = { ...rest, ...(text && { text }) };
      const { assigned } = await routes.assign({ reviewer: name.value.trim(), filter, share: Number(share.value) / 100 });
      assign.closest("dialog").close();
      done(`${count(assigned, "term")} assigned to ${name.value.trim()}.`);
    } catch (error) {
      say(error.message);
      assign.disabled = false;
    }
  }
}
