// How several reviewers work together: blind or not, and who decides disagreements.

import { button, element, labelled } from "../elements.js";
import { openDialog, statusLine } from "./dialog.js";

// done(message): called after a change.
export function reviewersDialog({ routes, summary, people, done }) {
  const blind = element("input", { type: "checkbox", id: "blind" });
  blind.checked = summary.blind;
  const adjudicator = element("input", { id: "adjudicator", list: "adjudicators", maxlength: 100, autocomplete: "off" });
  adjudicator.value = summary.adjudicator;
  const { line, say } = statusLine();
  const dialog = openDialog(
    "Reviewers",
    element("label", { class: "check" }, blind, " Blind: reviewers see only their own decisions"),
    labelled("Adjudicator, who decides disagreements", adjudicator),
    element("datalist", { id: "adjudicators" }, ...people.map((each) => new Option(each))),
    element("p", { class: "hint" }, "With an adjudicator, a term on which others disagree is open until the adjudicator decides. Without one, the last decision counts. The adjudicator sees all decisions; the filter “disagreements” lists the terms that wait."),
    line,
    element("p", { class: "row" }, button("Save", run)),
  );

  async function run() {
    try {
      await routes.setReview({ blind: blind.checked, adjudicator: adjudicator.value.trim() });
      dialog.close();
      done("The way of reviewing is saved.");
    } catch (error) {
      say(error.message);
    }
  }
}
