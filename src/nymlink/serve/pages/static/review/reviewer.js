// Who reviews: the name is asked for once, and remembered by the browser.

import { element, labelled } from "../elements.js";
import { openDialog } from "./dialog.js";
import { recall, remember } from "./stored.js";

const STORED = "nymlink.reviewer";

export function storedReviewer() {
  return recall(STORED, "");
}

// Ask for a name; those that are known are proposed. Ends when one was given, or with the one of before.
export function askReviewer(known, before = "") {
  return new Promise((resolve) => {
    const name = element("input", { id: "reviewer-name", required: "", maxlength: 100, list: "known-reviewers", autocomplete: "off" });
    name.value = before;
    const form = element(
      "form",
      { method: "dialog" },
      labelled("Your name", name),
      element("datalist", { id: "known-reviewers" }, ...known.map((each) => new Option(each))),
      element("p", { class: "hint" }, "It stands beside your decisions, so that others see whose they are."),
      element("p", { class: "row" }, element("button", { type: "submit" }, "Review")),
    );
    const dialog = openDialog("Who reviews?", form);
    let given = before;
    form.addEventListener("submit", (event) => {
      given = name.value.trim();
      if (!given) return event.preventDefault();
      remember(STORED, given);
    });
    // Decisions need a name: without one the dialog stays.
    if (!before) {
      dialog.querySelector(".close").remove();
      dialog.addEventListener("cancel", (event) => event.preventDefault());
    }
    dialog.addEventListener("close", () => (given ? resolve(given) : resolve(askReviewer(known))));
    name.focus();
  });
}
