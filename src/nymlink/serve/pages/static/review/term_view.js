// The term under review: its candidates, decisions and rows.

import { button, element } from "../elements.js";
import { percent } from "../why.js";
import { Choices, lineOf } from "./choices.js";
import { describeDecision } from "./decisions.js";
import { formsOf, partsOf } from "./forms_view.js";
import { recall, remember } from "./stored.js";
import { languageName, momentOf, t } from "../words.js";

const ACTIONS = [["accept", "accept"], ["nil", "no_concept_button"], ["add", "add_concept_button"], ["flag", "flag_button"], ["clear", "remove"], ["undo", "undo"]];
// Below this confidence no candidate is selected, so that a hasty key takes none.
const UNLIKELY = 0.2;
// A smaller lead than this counts as a tie.
const TIE = 0.05;
export const NONE = { id: null, name: t("none_line") };

export class TermView {
  // Whether the reviewer selected another candidate than the page.
  #moved = false;

  // name: of the project; targets, finder: parts of the view; run(action), take(concept), comment(term, text): called
  // by its controls.
  constructor(place, { name, keys, reviewer, index, targets, run, take, comment, leave }) {
    Object.assign(this, { place, keys, reviewer, targets, run, take });
    this.term = null;
    this.details = null;
    this.drafts = new Drafts(name);
    this.title = element("h2", { dir: "auto" });
    this.facts = element("p", { class: "why" });
    this.decided = element("div", { class: "decided" });
    this.buttons = element("p", { class: "row actions" });
    this.choices = new Choices({ id: "candidates", label: t("candidates"), index, role: "list", take: (row) => (row.id ? take(row) : run("nil")), moved: () => this.#touch() });
    this.choices.list.classList.add("candidates");
    this.why = element("p", { class: "hint" });
    this.comment = element("input", { id: "comment", maxlength: 10000, autocomplete: "off", "aria-label": t("comment"), placeholder: t("comment_hint") });
    this.rows = element("div", {});
    this.forms = element("div", {});
    this.comment.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        this.drafts.drop(this.term?.id);
        this.comment.value = this.mine()?.comment ?? "";
      } else if (event.key !== "Enter") return;
      event.preventDefault();
      leave();
    });
    this.comment.addEventListener("input", () => this.term && this.drafts.keep(this.term.id, this.comment.value));
    this.comment.addEventListener("change", () => this.term && comment(this.term, this.takeComment()));
  }

  // Place the parts; finder: the search, whose results cover the candidates.
  fill(finder) {
    this.candidateBox = element("div", {}, this.choices.list, this.why);
    this.place.append(
      element("div", { class: "head" }, this.title, this.facts),
      this.forms,
      this.decided,
      finder.place,
      finder.lists,
      this.candidateBox,
      this.buttons,
      element("div", { class: "written" }, this.targets.place, this.comment),
      this.rows,
    );
    this.drawButtons();
  }

  // Candidates that keys select; the few of the list until the details arrive.
  get candidates() {
    return this.details?.candidates ?? this.term?.candidates ?? [];
  }

  // The line that Accept takes: a candidate, NONE, or null if the reviewer must choose.
  get selected() {
    return this.choices.selected;
  }

  // Whether Accept means a choice of the reviewer, and not what the page proposes.
  get moved() {
    return this.#moved || this.targets.touched;
  }

  move(step) {
    this.#moved = true;
    this.choices.move(step);
  }

  #touch() {
    this.#moved = true;
  }

  drawButtons() {
    this.buttons.replaceChildren(
      ...ACTIONS.map(([action, label]) =>
        button([t(label), " ", element("kbd", {}, this.keys.shown(action))], () => this.run(action), action === "accept" ? {} : { class: "plain" }),
      ),
    );
    this.drawCandidates();
  }

  // Show a term; details: null until they arrive.
  show(term, details = null) {
    const other = term?.id !== this.term?.id;
    this.term = term;
    this.details = details;
    this.title.textContent = term ? term.text : t("no_term");
    if (term?.language) this.title.setAttribute("lang", term.language);
    else this.title.removeAttribute("lang");
    this.facts.textContent = term ? facts(term, details) : "";
    if (other) {
      this.#moved = false;
      this.comment.value = this.drafts.of(term?.id) ?? this.mine()?.comment ?? "";
      this.place.scrollTop = 0;
    }
    this.drawDecided();
    this.drawCandidates();
    this.forms.replaceChildren(...(term ? [formsOf(term, () => this.run("split")), partsOf(term)] : []));
    this.rows.replaceChildren(...(details ? [releaseChanges(details), occurrences(details), history(details)] : []));
  }

  drawDecided() {
    const decisions = Object.entries(this.term?.decisions ?? {});
    this.decided.replaceChildren(
      decisions.length ? element("ul", {}, ...decisions.map(([name, decision]) => this.#decision(name, decision))) : "",
    );
  }

  drawCandidates() {
    const kept = this.#moved ? this.selected : undefined;
    const lines = this.#lines();
    const place = kept === undefined ? this.#proposed(lines) : lines.findIndex((line) => line.id === kept?.id);
    this.choices.show(lines, place);
    this.why.textContent = this.#why();
  }

  // The decided concepts that are no candidates, the candidates, and no concept.
  #lines() {
    if (!this.term) return [];
    const present = this.present();
    // Of reviewers who disagree, all targets are offered.
    const counting = present ? [[null, present]] : this.#others();
    const decided = counting.flatMap(([who, { targets }]) => targets.map((target) => ({ ...target, who })));
    const chosen = new Set([...this.targets.ids, ...decided.map((target) => target.concept_id)]);
    const candidates = this.candidates.map((candidate, place) => ({
      ...lineOf(candidate),
      key: this.keys.shown(`pick${place + 1}`),
      confidence: place === 0 ? this.term.confidence : undefined,
      chosen: chosen.has(candidate.id),
    }));
    const known = new Set(this.candidates.map(({ id }) => id));
    const missing = new Map(decided.filter((target) => !known.has(target.concept_id)).map((target) => [target.concept_id, target]));
    const further = [...missing.values()].map(({ concept_id: id, name, who }) => ({ id, name: name || id, sign: "✓", reason: who ? t("decided_by", { who }) : t("decided"), chosen: true }));
    const isNone = counting.some(([, { verdict }]) => verdict === "nil");
    return [...further, ...candidates, { ...NONE, key: this.keys.shown("nil"), chosen: isNone, reason: this.term.nil ? t("probably") : "" }];
  }

  // What Accept takes unless the reviewer selects something else: the decision, else the first candidate if it is likely.
  #proposed(lines) {
    if (!this.term) return -1;
    const present = this.present();
    if (present?.verdict === "nil") return lines.length - 1;
    if (present?.verdict === "concept") return lines.findIndex((line) => line.id === present.targets[0].concept_id);
    if (this.term.state === "waiting" || this.#isDisputed) return -1;
    if (this.term.nil || !this.candidates.length) return lines.length - 1;
    return this.term.confidence !== null && this.term.confidence < UNLIKELY ? -1 : 0;
  }

  #why() {
    if (!this.term) return t("list_empty");
    if (this.term.state === "waiting") return t("wait_for_candidates");
    if (this.#isDisputed && this.choices.active < 0) return t("none_agreed");
    if (this.term.state === "failed") return t("could_not_link");
    if (!this.candidates.length) return t("none_similar_sentence");
    return this.choices.active < 0 ? t("none_likely") : "";
  }

  mine() {
    return this.term?.decisions?.[this.reviewer()];
  }

  // The decision that counts for the reviewer: the own one, else that of the others; null for none, and if they disagree.
  present() {
    const mine = this.mine();
    if (mine && mine.verdict !== "open") return mine;
    const others = this.#others().map(([, decision]) => decision);
    return others.every((decision) => essence(decision) === essence(others[0])) ? (others[0] ?? null) : null;
  }

  get #isDisputed() {
    return !this.present() && this.#others().length > 0;
  }

  // Names of other reviewers, with their decisions.
  #others() {
    return Object.entries(this.term?.decisions ?? {}).filter(([name, { verdict }]) => name !== this.reviewer() && (verdict === "concept" || verdict === "nil"));
  }

  // The written comment, which goes with the next decision.
  takeComment() {
    this.drafts.drop(this.term?.id);
    return this.comment.value.trim();
  }

  #decision(name, decision) {
    const who = name === this.reviewer() ? t("you") : name;
    const when = momentOf(decision.at, { dateStyle: "short", timeStyle: "short" });
    const comment = decision.comment ? ` — ${decision.comment}` : "";
    const state = decision.unsaved ? t("being_saved") : decision.origin === "accept" ? t("with_others_when", { when }) : when;
    return element("li", {}, element("strong", {}, who), `: ${describeDecision(decision)}`, element("span", { class: "why" }, ` (${state})${comment}`));
  }
}

// Comments that are written and not saved, by term: the browser keeps them.
class Drafts {
  constructor(name) {
    this.key = `nymlink.comments.${name}`;
    this.texts = recall(this.key, {});
  }

  of(term) {
    return this.texts[term];
  }

  keep(term, text) {
    this.texts[term] = text;
    remember(this.key, this.texts);
  }

  drop(term) {
    if (!(term in this.texts)) return;
    delete this.texts[term];
    remember(this.key, this.texts);
  }
}

// Equal for decisions that agree.
function essence({ verdict, targets }) {
  return [verdict, ...targets.map(({ concept_id: id, relation, denied }) => `${id} ${relation} ${Boolean(denied)}`).sort()].join("\n");
}

function facts(term, details) {
  const tied = term.margin !== null && term.margin < TIE && term.candidates.length > 1;
  const known = [
    t("times", { n: term.frequency }),
    term.language && languageName(term.language),
    term.type,
    term.state === "linked" && !term.nil && t("confidence_small", { percent: percent(term.confidence) }),
    tied && !term.nil && t("tied"),
    term.nil && t("probably_none"),
    ...(details?.notes ?? []),
    (details ?? term).carried && t("carried"),
  ];
  return known.filter(Boolean).join(" · ");
}

function occurrences({ rows = [], row_count: total }) {
  if (!rows.length) return "";
  const line = ({ file, number, header, cells }) => {
    const known = cells.flatMap((cell, place) => (cell ? [element("dt", {}, header[place]), element("dd", { dir: "auto" }, cell)] : []));
    return element("li", {}, t("file_row", { file, number: String(number) }), element("dl", { class: "cells" }, ...known));
  };
  const title = t(rows.length < total ? "rows_first" : "rows_all", { n: rows.length, total });
  return element("details", {}, element("summary", {}, title), element("ul", {}, ...rows.map(line)));
}

function history({ history: entries = [] }) {
  if (!entries.length) return "";
  const line = (entry) => {
    const said = `${momentOf(entry.at)}: ${entry.reviewer}: ${describeDecision(entry)}`;
    const comment = entry.comment ? ` — ${entry.comment}` : "";
    return element("li", {}, `${said}${comment}${entry.undone ? t("undone_mark") : ""}${ORIGINS.includes(entry.origin) ? t(`origin_${entry.origin}`) : ""}`);
  };
  return element("details", {}, element("summary", {}, t("history", { n: entries.length })), element("ul", {}, ...entries.map(line)));
}

const ORIGINS = ["accept", "import", "release", "form"];
const CHANGES = ["gone", "obsolete", "replaced", "renamed", "better"];

function releaseChanges({ changed = [] }) {
  if (!changed.length) return "";
  const line = ({ kind, concept_id: id, concept_name: name, now }) => {
    const present = now.map(({ concept_id: other, name: called }) => `${called} (${other})`).join(", ");
    return element("li", {}, `${name} (${id}) ${CHANGES.includes(kind) ? t(`change_${kind}`) : kind}${present ? `: ${present}` : ""}`);
  };
  return element("div", { class: "note" }, t("changes_since"), element("ul", {}, ...changed.map(line)));
}
