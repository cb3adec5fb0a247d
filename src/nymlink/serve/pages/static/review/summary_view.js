// The progress of the review: terms linked and decided, rows covered, agreement of reviewers.

import { button, element } from "../elements.js";
import { count } from "./preview.js";

export class SummaryView {
  // cancel(), goOn(): stop and continue linking; rebase(): apply the decisions to another release.
  constructor(place, { cancel, goOn, rebase }) {
    this.rebase = button("Apply to another release …", rebase, { class: "plain" });
    this.linking = element("p", { class: "row linking" });
    this.short = element("summary", {});
    this.facts = element("p", { class: "facts" });
    this.people = element("p", { class: "facts" });
    this.problem = element("p", { class: "note row" });
    const more = element("details", { class: "more" }, this.short, element("div", { class: "popover" }, this.facts, this.people));
    place.append(more, this.linking, this.problem);
    this.cancel = button("Cancel", cancel, { class: "plain" });
    this.goOn = button("Continue", goOn, { class: "plain" });
    this.bar = element("progress", { "aria-label": "Linked" });
    this.said = element("span", {});
    this.linking.append(this.bar, this.said, this.cancel, this.goOn);
    this.linking.hidden = true;
  }

  show(summary) {
    const { terms, rows, decided, rows_decided: rowsDecided, coverage, verdicts } = summary;
    const covered = [
      `${number(decided)} of ${count(terms, "term")} decided (${share(coverage.terms)})`,
      `${number(rowsDecided)} of ${count(rows, "row")} (${share(coverage.rows)})`,
      `${share(coverage.frequency)} by frequency`,
    ];
    const kinds = Object.entries(VERDICTS).filter(([verdict]) => verdicts[verdict]).map(([verdict, what]) => `${number(verdicts[verdict])} ${what}`);
    const changed = Object.values(summary.changed).reduce((sum, times) => sum + times, 0);
    if (changed) kinds.push(`${number(changed)} changed by a release`);
    this.short.textContent = `${number(decided)} of ${number(terms)} decided`;
    this.facts.textContent = [...covered, ...kinds].join(" · ");
    this.people.textContent = [...summary.reviewers.map(personLine), ...summary.agreement.map(kappaLine)].join(" · ");
    const { state, what_to_do: advice } = summary.index;
    this.problem.hidden = state === "same";
    this.problem.replaceChildren(state === "same" ? "" : advice, " ", this.rebase);
    this.progress(summary.progress);
  }

  progress({ done, total, failed, per_second: speed, state, problem }) {
    const running = state === "linking";
    this.linking.hidden = state === "done";
    this.bar.max = Math.max(1, total);
    this.bar.value = done;
    const left = running && speed ? `, about ${duration((total - done) / speed)} left` : "";
    const lost = failed ? `, ${number(failed)} failed` : "";
    this.said.textContent = `${number(done)} of ${count(total, "term")} linked${lost}${running ? left : ": stopped"}${problem ? ` (${problem})` : ""}`;
    this.cancel.hidden = !running;
    this.goOn.hidden = running;
  }
}

const VERDICTS = { concept: "with a concept", nil: "no concept", flag: "flagged" };

function personLine({ name, decided, assigned }) {
  return `${name}: ${number(decided)} decided${assigned ? `, ${number(assigned)} assigned` : ""}`;
}

function kappaLine({ reviewers, terms, agree, kappa }) {
  const agreement = kappa === null ? "" : ` (kappa ${kappa.toFixed(2)})`;
  return `${reviewers.join(" and ")} agree on ${number(agree)} of ${count(terms, "term")}${agreement}`;
}

function number(value) {
  return value.toLocaleString("en");
}

function share(part) {
  return `${Math.floor(100 * part + 1e-9)} %`;
}

function duration(seconds) {
  return seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`;
}
