// Decisions on terms: shown at once, then sent; the server refuses one if another browser decided first.

import { Outbox } from "./outbox.js";
import { t } from "../words.js";

export const RELATIONS = ["exact", "broader", "narrower", "related", "part"];

// Relation of the concept to the term, in words.
export const relationName = (relation) => t(`relation_${relation}`);

export class Decisions extends EventTarget {
  // The state before each decision that is being sent.
  #before = new Map();

  // queue: the terms; reviewer(): name of the reviewer.
  constructor({ routes, queue, reviewer }) {
    super();
    this.queue = queue;
    this.reviewer = reviewer;
    this.outbox = new Outbox(routes);
    this.outbox.addEventListener("saved", ({ detail }) => this.#saved(detail));
    this.outbox.addEventListener("refused", ({ detail }) => this.#refused(detail));
    this.outbox.addEventListener("waiting", ({ detail }) => this.#tell("waiting", detail.error));
  }

  // Show and send the decisions that an earlier page could not save.
  resume() {
    for (const each of this.outbox.decisions) this.queue.setDecision(each.term, each.reviewer, shown(each));
    this.outbox.run();
  }

  decide(term, verdict, targets = [], comment = this.mine(term)?.comment ?? "") {
    const reviewer = this.reviewer();
    const decision = { reviewer, term: term.id, expects: this.mine(term)?.id ?? null, verdict, targets, comment };
    this.#before.set(decision, this.mine(term) ?? null);
    this.queue.setDecision(term.id, reviewer, shown(decision));
    this.outbox.decide(decision);
  }

  undo() {
    this.outbox.undo(this.reviewer());
  }

  mine(term) {
    return term.decisions?.[this.reviewer()];
  }

  #saved({ item, answer }) {
    if (item.decision) {
      this.#replace(item.decision, answer.decision);
      this.#tell("saved", answer.decision);
    } else {
      for (const { term, decision } of answer.undone) this.queue.setDecision(term, item.undo, decision);
      this.#tell("undone", answer.undone);
    }
  }

  #refused({ item, error }) {
    const { decision } = item;
    if (!decision) return this.#tell("refused", { error, decision: null });
    if (!(error.problem && "present" in error.problem)) {
      this.#replace(decision, this.#before.get(decision) ?? null);
      return this.#tell("refused", { error, decision });
    }
    const { present } = error.problem;
    this.#replace(decision, present);
    // The server has the decision; only its answer was lost.
    if (present && alike(present, decision)) return this.#tell("saved", present);
    return this.#tell("refused", { error, decision });
  }

  // Show the saved decision, unless a later one is being sent.
  #replace(decision, present) {
    const { term, reviewer } = decision;
    const now = this.queue.get(term)?.decisions[reviewer];
    if (now?.unsaved === decision) this.queue.setDecision(term, reviewer, present);
    else if (now?.unsaved && present) now.id = present.id;
    this.#before.delete(decision);
  }

  #tell(kind, detail) {
    this.dispatchEvent(new CustomEvent(kind, { detail }));
  }
}

function shown(decision) {
  return { ...decision, id: decision.expects, at: Date.now(), unsaved: decision };
}

function alike(one, other) {
  const essence = ({ verdict, targets, comment }) =>
    JSON.stringify([verdict, comment, targets.map(({ concept_id: id, relation }) => [id, relation])]);
  return essence(one) === essence(other);
}

export function describeDecision({ verdict, targets }) {
  if (verdict === "nil") return t("said_nil");
  if (verdict === "open") return t("said_open");
  const names = targets.map(({ concept_id: id, name, relation, denied }) => `${denied ? t("said_denied", { name: name || id }) : name || id}${relation === "exact" ? "" : ` (${t(`short_${relation}`)})`}`);
  return verdict !== "flag" ? names.join(" + ") : names.length ? t("said_flagged", { names: names.join(" + ") }) : t("flagged");
}
