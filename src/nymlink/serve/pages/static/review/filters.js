// The filters and the order of the list.

import { choice, element, labelled } from "../elements.js";
import { t } from "../words.js";

const PAUSE = 250;

export const FIRST = { status: "open", sort: "frequency", descending: "true" };

const STATUSES = ["open", "mine", "decided", "nil", "flagged", "accepted", "disagreement", "changed", "failed", "all"];
const ORDERS = ["order", "frequency", "confidence", "margin", "text"];

export class Filters {
  #asked = 0;

  // changed(): called when a filter changes.
  constructor(form, { values, changed }) {
    const share = (name) => element("input", { name, type: "number", min: 0, max: 1, step: 0.05, inputmode: "decimal" });
    const times = element("input", { name: "min_frequency", type: "number", min: 0, step: 1, inputmode: "numeric" });
    this.form = form;
    this.reviewers = choice([["", t("anyone")]], "", { name: "reviewer" });
    this.assigned = choice([["", t("anyone")]], "", { name: "assigned" });
    form.append(
      labelled(t("filter_show"), choice(STATUSES.map((each) => [each, t(`status_${each}`)]), values.status, { name: "status" })),
      labelled(t("filter_sorted"), choice(ORDERS.map((each) => [each, t(`order_${each}`)]), values.sort, { name: "sort" })),
      element("label", { class: "check" }, element("input", { name: "descending", type: "checkbox" }), ` ${t("filter_descending")}`),
      element(
        "details",
        {},
        element("summary", {}, t("filter_more")),
        element(
          "p",
          { class: "row fields" },
          labelled(t("filter_text"), element("input", { name: "q", type: "search", autocomplete: "off" })),
          labelled(t("filter_from"), share("min_confidence")),
          labelled(t("filter_to"), share("max_confidence")),
          labelled(t("filter_lead"), share("max_margin")),
          labelled(t("filter_frequency"), times),
          labelled(t("filter_decided_by"), this.reviewers),
          labelled(t("filter_assigned"), this.assigned),
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
