// The chosen targets of a term and their relations, before they are accepted.

import { button, choice, element, labelled } from "../elements.js";
import { RELATION_NAMES, RELATIONS } from "./decisions.js";

export class Targets {
  #chosen = new Map();

  // changed(): called when the chosen targets change.
  constructor({ changed }) {
    this.changed = changed;
    this.relation = choice(RELATIONS.map((relation) => [relation, RELATION_NAMES[relation]]), "exact", { id: "relation" });
    this.several = element("input", { type: "checkbox", id: "several" });
    this.list = element("ul", { class: "chosen-targets", "aria-label": "Chosen targets" });
    this.place = element(
      "div",
      { class: "targets" },
      element("p", { class: "row" }, labelled("The concept is", this.relation), element("label", { class: "check" }, this.several, " Several targets")),
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

  // Make a target of a concept, with the selected relation.
  of(concept) {
    return { concept_id: concept.id, name: concept.name, relation: this.relation.value };
  }

  toggle(concept) {
    if (!this.#chosen.delete(concept.id)) this.#chosen.set(concept.id, this.of(concept));
    this.#draw();
  }

  // Clear the chosen targets; the next term starts with one target, exact or as it was decided.
  reset(relation = "exact") {
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
    return RELATION_NAMES[this.relation.value];
  }

  #draw() {
    this.list.replaceChildren(...this.all.map((target) => this.#item(target)));
    this.changed();
  }

  #item(target) {
    const relation = choice(RELATIONS, target.relation, { "aria-label": `Relation of ${target.name}` });
    relation.addEventListener("change", () => {
      target.relation = relation.value;
    });
    const remove = button("Remove", () => this.toggle({ id: target.concept_id }), { class: "plain", "aria-label": `Remove ${target.name}` });
    return element("li", {}, element("span", {}, `${target.name} `), element("span", { class: "id" }, target.concept_id), " ", relation, " ", remove);
  }
}
