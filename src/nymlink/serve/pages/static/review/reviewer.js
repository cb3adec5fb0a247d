// Name of the reviewer: asked for once, then remembered by the browser.

import { element, labelled } from "../elements.js";
import { openDialog } from "./dialog.js";
import { recall, remember } from "./stored.js";
import { t } from "../words.js";

const STORED = "nymlink.reviewer";

export function storedReviewer() {
  return recall(STORED, "");
}

// Ask for a name, with known names as proposals; returns the new or the former name.
export function askReviewer(known, before = "") {
  return new Promise((resolve) => {
    const name = element("input", { id: "reviewer-name", required: "", maxlength: 100, list: "known-reviewers", autocomplete: "off" });
    name.value = before;
    const form = element(
      "form",
      { method: "dialog" },
      labelled(t("your_name"), name),
      element("datalist", { id: "known-reviewers" }, ...known.map((each) => new Option(each))),
      element("p", { class: "hint" }, t("name_hint")),
      element("p", { class: "row" }, element("button", { type: "submit" }, t("review_button"))),
    );
    const dialog = openDialog(t("who_reviews"), form);
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
