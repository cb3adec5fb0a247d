// The actions of keys and buttons on the term under review.

import { describeDecision } from "./decisions.js";
import { t } from "../words.js";

export class Actions {
  // parts: queue, list, view, targets, finder and decisions of the page; wanted(): its filters; help(): shows the keys;
  // separate(term): splits the forms of a term; addConcept(term, candidates): asks for a new concept.
  constructor(parts) {
    Object.assign(this, parts);
  }

  run(action) {
    const picked = /^pick(\d+)$/.exec(action);
    if (picked) return this.#pick(Number(picked[1]) - 1);
    return this[action]?.();
  }

  // Decide with a concept; with several targets, add it to them.
  take(concept) {
    if (!this.list.term) return this.say(t("nothing_to_decide"));
    if (this.targets.several.checked) return this.targets.toggle(concept);
    return this.#decide("concept", [this.targets.of(concept)]);
  }

  // Take the selected line. A term that is decided keeps its decision, unless the reviewer selected something else.
  accept() {
    const { view } = this;
    if (!this.list.term) return this.say(t("nothing_to_decide"));
    if (this.targets.all.length) return this.#decide("concept", this.targets.all);
    const mine = this.decisions.mine(this.list.term);
    if (!view.moved && mine && mine.verdict !== "open") {
      // What was accepted with others is now looked at.
      if (mine.origin === "accept") return this.#decide(mine.verdict, mine.targets);
      this.say(t("still", { text: this.list.term.text, what: describeDecision(mine) }));
      return this.#advance();
    }
    const present = view.present();
    if (!view.moved && present) return this.#decide(present.verdict, present.targets);
    const { selected } = view;
    if (!selected) return this.say(t("none_selected"));
    return selected.id === null ? this.nil() : this.#decide("concept", [this.targets.of(selected)]);
  }

  nil() {
    this.#decide("nil");
  }

  // Add a concept for the meaning of the term, and decide with it.
  add() {
    if (!this.list.term) return this.say(t("nothing_to_decide"));
    return this.addConcept(this.list.term, this.view.candidates);
  }

  flag() {
    this.#decide("flag", this.targets.all);
  }

  clear() {
    const term = this.list.term;
    if (term && this.decisions.mine(term)) this.decisions.decide(term, "open", [], this.view.takeComment());
  }

  undo() {
    this.decisions.undo();
  }

  // Decide the forms of the term separately from now on.
  split() {
    return this.separate(this.list.term).catch((error) => this.say(error.message));
  }

  search() {
    this.finder.input.focus();
  }

  tree() {
    return this.finder.showTree();
  }

  nextCandidate() {
    this.view.move(1);
  }

  previousCandidate() {
    this.view.move(-1);
  }

  comment() {
    this.view.comment.focus();
  }

  relation() {
    this.say(t("concept_is_now", { relation: this.targets.nextRelation() }));
  }

  several() {
    this.targets.several.click();
    this.say(this.targets.several.checked ? t("several_on") : t("several_off"));
  }

  next() {
    this.list.move(1);
  }

  previous() {
    this.list.move(-1);
  }

  open() {
    const place = this.queue.nextOpen(this.list.place, this.decisions.reviewer());
    if (place < 0) this.say(t("all_decided_by_me"));
    else this.list.select(place);
  }

  // Save a comment with the present decision; without one, save the comment alone.
  keepComment(term, comment) {
    const mine = this.decisions.mine(term);
    if ((mine?.comment ?? "") !== comment) this.decisions.decide(term, mine?.verdict ?? "open", mine?.targets ?? [], comment);
  }

  #pick(place) {
    const candidate = this.view.candidates[place];
    if (candidate) this.take(candidate);
    else this.say(t("no_candidate", { number: place + 1 }));
  }

  #decide(verdict, targets = []) {
    const term = this.list.term;
    if (!term) return this.say(t("nothing_to_decide"));
    this.decisions.decide(term, verdict, targets, this.view.takeComment());
    this.say(t("decided_as", { text: term.text, what: describeDecision({ verdict, targets }) }));
    return this.#advance();
  }

  // Select the next undecided term; in lists of decided terms, the next term.
  #advance() {
    const { status, reviewer } = this.wanted();
    if (status !== "open" && status !== "mine") {
      if (this.list.place < this.queue.rows.length - 1) this.list.move(1);
      return this.list.focus();
    }
    const anyone = status === "open" && !reviewer;
    const place = this.queue.nextOpen(this.list.place, anyone ? null : this.decisions.reviewer());
    if (place >= 0) this.list.select(place);
    else this.say(t("all_decided"));
    return this.list.focus();
  }
}
