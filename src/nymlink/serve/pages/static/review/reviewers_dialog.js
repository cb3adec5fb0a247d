// How several reviewers work together: blind or not, and who decides disagreements.

import { button, element, labelled } from "../elements.js";
import { openDialog, statusLine } from "./dialog.js";
import { t } from "../words.js";

// done(message): called after a change.
export function reviewersDialog({ routes, summary, people, done }) {
  const blind = element("input", { type: "checkbox", id: "blind" });
  blind.checked = summary.blind;
  const adjudicator = element("input", { id: "adjudicator", list: "adjudicators", maxlength: 100, autocomplete: "off" });
  adjudicator.value = summary.adjudicator;
  const { line, say } = statusLine();
  const dialog = openDialog(
    t("reviewers_title"),
    element("label", { class: "check" }, blind, ` ${t("blind_label")}`),
    labelled(t("adjudicator_label"), adjudicator),
    element("datalist", { id: "adjudicators" }, ...people.map((each) => new Option(each))),
    element("p", { class: "hint" }, t("reviewers_hint")),
    line,
    element("p", { class: "row" }, button(t("save"), run)),
  );

  async function run() {
    try {
      await routes.setReview({ blind: blind.checked, adjudicator: adjudicator.value.trim() });
      dialog.close();
      done(t("reviewing_saved"));
    } catch (error) {
      say(error.message);
    }
  }
}
