// Assigns the filtered terms, or a share of them, to a reviewer.

import { button, element, labelled } from "../elements.js";
import { openDialog, statusLine } from "./dialog.js";
import { Filters } from "./filters.js";
import { t } from "../words.js";

// filters: those of the list; people: known names; done(message): called after the assignment.
export function assignDialog({ routes, filters, people, total, done }) {
  const name = element("input", { list: "people", maxlength: 100, autocomplete: "off", id: "assignee" });
  const share = element("input", { type: "number", min: 1, max: 100, step: 1, id: "share", inputmode: "numeric" });
  share.value = 100;
  const { line, say } = statusLine();
  const assign = button(t("assign"), run);
  openDialog(
    t("assign_title"),
    element("p", {}, t("assign_lead", { terms: t("terms", { n: total }) })),
    element("p", { class: "row" }, labelled(t("reviewer"), name), labelled(t("share_percent"), share)),
    element("datalist", { id: "people" }, ...people.map((each) => new Option(each))),
    element("p", { class: "hint" }, t("assign_hint")),
    line,
    element("p", { class: "row" }, assign),
  );
  name.focus();

  async function run() {
    if (!name.value.trim()) return say(t("write_name"));
    assign.disabled = true;
    try {
      const { assigned } = await routes.assign({ reviewer: name.value.trim(), filter: Filters.request(filters), share: Number(share.value) / 100 });
      assign.closest("dialog").close();
      done(t("assigned_to", { terms: t("terms", { n: assigned }), name: name.value.trim() }));
    } catch (error) {
      say(error.message);
      assign.disabled = false;
    }
  }
}
