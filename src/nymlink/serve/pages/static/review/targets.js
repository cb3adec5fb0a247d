// The chosen targets of a term and their relations, before they are accepted.

import { button, choice, element, labelled } from "../elements.js";
import { relationName, RELATIONS } from "./decisions.js";
import { t } from "../words.js";

export class Targets {
  #chosen = new Map();

  // changed(): called when the chosen targets change.
  constructor({ changed }) {
    this.changed = changed;
    // The parts of the term, if it has several findings.
    this.parts = [];
    this.relation = choice(RELATIONS.map((relation) => [relation, relationName(relation)]), "exact", { id: "relation" });
    this.several = element("input", { type: "checkbox", id: "several" });
    this.list = element("ul", { class: "chosen-targets", "aria-label": t("chosen_targets") });
    this.place = element(
      "div",
      { class: "targets" },
      element("p", { class: "row" }, labelled(t("concept_is"), this.relation), element("label", { class: "check" }, this.several, ` ${t("several_targets")}`)),
      this.list,
    );
    // Whether the reviewer chose a relation for this term.
    this.touched = false;
    this.relation.addEventListener("change", () => {
      this.touched = true;
    });
    this.several.addEventListener("change", () => this.several.checked || this.clear());
  }

  get ids() {
    return new Set(this.#chosen.keys());
  }

  get all() {
    return [...this.#chosen.values()];
  }

  // Make a target of a concept, with the selected relation, or as a target of a part of the term.
  of(concept) {
    const target = { concept_id: concept.id, name: concept.name, relation: this.relation.value };
    const part = this.parts.find(({ candidates }) => candidates.includes(concept.id));
    if (!part) return target;
    return { ...target, relation: this.parts.length > 1 ? "part" : target.relation, part: part.text, denied: part.denied };
  }

  toggle(concept) {
    if (!this.#chosen.delete(concept.id)) {
      const target = this.of(concept);
      // Another concept of the same part replaces the first one.
      for (const other of this.all) if (target.part && other.part === target.part) this.#chosen.delete(other.concept_id);
      this.#chosen.set(concept.id, target);
    }
    this.#draw();
  }

  // Choose a target for each part of a term with several findings.
  propose({ parts, suggested }) {
    this.parts = parts ?? [];
    if (!suggested?.length) return;
    this.several.checked = true;
    for (const target of suggested) this.#chosen.set(target.concept_id, { ...target });
    this.#draw();
  }

  // Clear the chosen targets; the next term starts with one target, exact or as it was decided.
  reset(relation = "exact") {
    this.parts = [];
    this.several.checked = false;
    this.touched = false;
    this.relation.value = relation;
    this.clear();
  }

  clear() {
    if (!this.#chosen.size) return;
    this.#chosen.clear();
    this.#draw();
  }

  nextRelation() {
    this.touched = true;
    this.relation.value = RELATIONS[(RELATIONS.indexOf(this.relation.value) + 1) % RELATIONS.length];
    return relationName(this.relation.value);
  }

  #draw() {
    this.list.replaceChildren(...this.all.map((target) => this.#item(target)));
    this.changed();
  }

  #item(target) {
    const relation = choice(RELATIONS.map((each) => [each, t(`short_${each}`)]), target.relation, { "aria-label": t("relation_of", { name: target.name }) });
    relation.addEventListener("change", () => {
      target.relation = relation.value;
    });
    const denied = element("input", { type: "checkbox" });
    denied.checked = Boolean(target.denied);
    denied.addEventListener("change", () => {
      target.denied = denied.checked;
    });
    const absent = element("label", { class: "check" }, denied, ` ${t("negated")}`);
    const remove = button(t("remove"), () => this.toggle({ id: target.concept_id }), { class: "plain", "aria-label": t("remove_one", { name: target.name }) });
    return element("li", {}, element("span", {}, `${target.part ? `${target.part}: ` : ""}${target.name} `), element("span", { class: "id" }, target.concept_id), " ", relation, " ", absent, " ", remove);
  }
}
