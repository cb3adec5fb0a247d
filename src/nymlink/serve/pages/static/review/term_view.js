// The term under review: its candidates, decisions and rows.

import { button, element } from "../elements.js";
import { percent } from "../why.js";
import { candidateList } from "./candidates.js";
import { describeDecision } from "./decisions.js";

const ACTIONS = [["accept", "Accept"], ["nil", "NIL"], ["flag", "Flag"], ["clear", "Remove decision"], ["undo", "Undo"]];

export class TermView {
  // targets, finder: parts of the view; run(action), take(concept), comment(text): called by its controls.
  constructor(place, { keys, reviewer, index, targets, finder, run, take, comment, leave }) {
    Object.assign(this, { place, keys, reviewer, index, targets, run, take });
    this.term = null;
    this.details = null;
    this.title = element("h2", { dir: "auto" });
    this.facts = element("p", { class: "why" });
    this.decided = element("div", { class: "decided" });
    this.buttons = element("p", { class: "row actions" });
    this.candidateBox = element("div", {});
    this.comment = element("input", { id: "comment", maxlength: 10000, autocomplete: "off" });
    this.rows = element("div", {});
    place.append(
      this.title,
      this.facts,
      this.decided,
      this.buttons,
      targets.place,
      element("div", { class: "written" }, finder.place, element("div", {}, element("label", { for: "comment" }, "Comment"), this.comment)),
      this.candidateBox,
      this.rows,
    );
    this.comment.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.comment.value = this.#mine()?.comment ?? "";
      else if (event.key !== "Enter") return;
      event.preventDefault();
      leave();
    });
    this.comment.addEventListener("change", () => this.term && comment(this.term, this.comment.value.trim()));
    this.drawButtons();
  }

  // Candidates that keys select; the few of the list until the details arrive.
  get candidates() {
    return this.details?.candidates ?? this.term?.candidates ?? [];
  }

  drawButtons() {
    this.buttons.replaceChildren(
      ...ACTIONS.map(([action, label]) =>
        button([label, " ", element("kbd", {}, this.keys.shown(action))], () => this.run(action), action === "accept" ? {} : { class: "plain" }),
      ),
    );
    this.drawCandidates();
  }

  // Show a term; details: null until they arrive.
  show(term, details = null) {
    const other = term?.id !== this.term?.id;
    this.term = term;
    this.details = details;
    this.title.textContent = term ? term.text : "No term";
    if (term?.language) this.title.setAttribute("lang", term.language);
    else this.title.removeAttribute("lang");
    this.facts.textContent = term ? facts(term, details) : "";
    if (other) {
      this.comment.value = this.#mine()?.comment ?? "";
      this.place.scrollTop = 0;
    }
    this.drawDecided();
    this.drawCandidates();
    this.rows.replaceChildren(...(details ? [releaseChanges(details), occurrences(details), history(details)] : []));
  }

  drawDecided() {
    const decisions = Object.entries(this.term?.decisions ?? {});
    this.decided.replaceChildren(
      decisions.length ? element("ul", {}, ...decisions.map(([name, decision]) => this.#decision(name, decision))) : "",
    );
  }

  drawCandidates() {
    const candidates = this.details?.candidates ?? [];
    this.candidateBox.replaceChildren(
      candidates.length
        ? candidateList(candidates, {
            index: this.index,
            confidence: this.term.confidence,
            chosen: new Set([...this.targets.ids, ...(this.#mine()?.targets ?? []).map((target) => target.concept_id)]),
            keyOf: (place) => this.keys.shown(`pick${place + 1}`),
            take: this.take,
          })
        : this.#why(),
    );
  }

  #why() {
    if (!this.term) return "No term is in this list. Choose other filters.";
    if (this.term.state === "waiting") return element("p", { class: "hint" }, "Not linked yet. Candidates will appear here.");
    if (this.term.state === "failed") return element("p", { class: "note" }, "The term could not be linked. Search the vocabulary.");
    return this.details ? element("p", { class: "hint" }, "No concept is similar. Search the vocabulary, or decide NIL.") : "";
  }

  #mine() {
    return this.term?.decisions?.[this.reviewer()];
  }

  #decision(name, decision) {
    const who = name === this.reviewer() ? "You" : name;
    const when = new Date(decision.at).toLocaleString([], { dateStyle: "short", timeStyle: "short" });
    const comment = decision.comment ? ` — ${decision.comment}` : "";
    const state = decision.unsaved ? "being saved" : when;
    return element("li", {}, element("strong", {}, who), `: ${describeDecision(decision)}`, element("span", { class: "why" }, ` (${state})${comment}`));
  }
}

function facts(term, details) {
  const known = [
    term.frequency === 1 ? "once" : `${term.frequency.toLocaleString("en")} times`,
    term.language,
    term.type,
    term.state === "linked" && `confidence ${percent(term.confidence)}`,
    term.margin !== null && `margin ${term.margin.toFixed(2)}`,
    term.nil && "probably NIL",
    ...(details?.notes ?? []),
    (details ?? term).carried && "decision made for an earlier table",
  ];
  return known.filter(Boolean).join(" · ");
}

function occurrences({ rows = [], row_count: total }) {
  if (!rows.length) return "";
  const line = ({ file, number, header, cells }) => {
    const known = cells.flatMap((cell, place) => (cell ? [element("dt", {}, header[place]), element("dd", { dir: "auto" }, cell)] : []));
    return element("li", {}, `${file}, row ${number}`, element("dl", { class: "cells" }, ...known));
  };
  const title = rows.length < total ? `Rows with this term (the first ${rows.length} of ${total.toLocaleString("en")})` : `Rows with this term (${total})`;
  return element("details", {}, element("summary", {}, title), element("ul", {}, ...rows.map(line)));
}

function history({ history: entries = [] }) {
  if (!entries.length) return "";
  const line = (entry) => {
    const said = `${new Date(entry.at).toLocaleString()}: ${entry.reviewer}: ${describeDecision(entry)}`;
    const comment = entry.comment ? ` — ${entry.comment}` : "";
    return element("li", {}, `${said}${comment}${entry.undone ? " (undone)" : ""}${ORIGINS[entry.origin] ?? ""}`);
  };
  return element("details", {}, element("summary", {}, `History (${entries.length})`), element("ul", {}, ...entries.map(line)));
}

const ORIGINS = { accept: ", accepted with others", import: ", imported", release: ", changed by a release" };
const CHANGES = { gone: "is no longer in the vocabulary", obsolete: "is obsolete", replaced: "is replaced", renamed: "is renamed", better: "may now have a better candidate" };

function releaseChanges({ changed = [] }) {
  if (!changed.length) return "";
  const line = ({ kind, concept_id: id, concept_name: name, now }) => {
    const present = now.map(({ concept_id: other, name: called }) => `${called} (${other})`).join(", ");
    return element("li", {}, `${name} (${id}) ${CHANGES[kind] ?? kind}${present ? `: ${present}` : ""}`);
  };
  return element("div", { class: "note" }, "Changes since the decision:", element("ul", {}, ...changed.map(line)));
}
