// The filters and the order of the list.

import { choice, element, labelled } from "../elements.js";

const PAUSE = 250;

export const FIRST = { status: "open", sort: "frequency", descending: "true" };

const STATUSES = [
  ["open", "not decided"],
  ["mine", "assigned to me"],
  ["decided", "decided"],
  ["nil", "no concept"],
  ["flagged", "flagged"],
  ["accepted", "accepted with others"],
  ["disagreement", "disagreements"],
  ["changed", "changed by a release"],
  ["failed", "could not be linked"],
  ["all", "all"],
];
const ORDERS = [
  ["order", "as in the file"],
  ["frequency", "frequency"],
  ["confidence", "confidence"],
  ["margin", "lead over candidate 2"],
  ["text", "text"],
];

export class Filters {
  #asked = 0;

  // changed(): called when a filter changes.
  constructor(form, { values, changed }) {
    const share = (name) => element("input", { name, type: "number", min: 0, max: 1, step: 0.05, inputmode: "decimal" });
    const times = element("input", { name: "min_frequency", type: "number", min: 0, step: 1, inputmode: "numeric" });
    this.form = form;
    this.reviewers = choice([["", "anyone"]], "", { name: "reviewer" });
    this.assigned = choice([["", "anyone"]], "", { name: "assigned" });
    form.append(
      labelled("Show", choice(STATUSES, values.status, { name: "status" })),
      labelled("sorted by", choice(ORDERS, values.sort, { name: "sort" })),
      element("label", { class: "check" }, element("input", { name: "descending", type: "checkbox" }), " largest first"),
      element(
        "details",
        {},
        element("summary", {}, "More filters"),
        element(
          "p",
          { class: "row fields" },
          labelled("Text", element("input", { name: "q", type: "search", autocomplete: "off" })),
          labelled("Confidence from", share("min_confidence")),
          labelled("to", share("max_confidence")),
          labelled("Lead over candidate 2 at most", share("max_margin")),
          labelled("Frequency at least", times),
          labelled("Decided by", this.reviewers),
          labelled("Assigned to", this.assigned),
        ),
      ),
    );
    this.people([values.reviewer, values.assigned].filter(Boolean));
    for (const [name, value] of Object.entries(values)) {
      const field = form.elements[name];
      if (field?.type === "checkbox") field.checked = value === "true";
      else if (field) field.value = value;
    }
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", () => {
      const mine = ++this.#asked;
      setTimeout(() => mine === this.#asked && changed(), PAUSE);
    });
  }

  get values() {
    const given = Object.fromEntries([...new FormData(this.form)].filter(([, value]) => value !== ""));
    return { ...given, descending: this.form.elements.descending.checked ? "true" : "false" };
  }

  // The filter as a request states it, without the order.
  static request({ q: text, sort, descending, ...rest }) {
    return { ...rest, ...(text && { text }) };
  }

  set status(status) {
    this.form.elements.status.value = status;
  }

  // Offer the names of reviewers.
  people(names) {
    for (const list of [this.reviewers, this.assigned]) {
      const known = new Set([...list.options].map((option) => option.value));
      for (const name of names) if (!known.has(name)) list.append(new Option(name));
    }
  }
}
