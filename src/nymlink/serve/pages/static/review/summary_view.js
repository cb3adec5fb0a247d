// The progress of the review: terms linked and decided, rows covered, agreement of reviewers.

import { button, element } from "../elements.js";
import { number, t } from "../words.js";

export class SummaryView {
  // cancel(), goOn(): stop and continue linking; rebase(): apply the decisions to another release.
  constructor(place, { cancel, goOn, rebase }) {
    this.rebase = button(t("apply_release"), rebase, { class: "plain" });
    this.linking = element("p", { class: "row linking" });
    this.short = element("summary", {});
    this.facts = element("p", { class: "facts" });
    this.people = element("p", { class: "facts" });
    this.problem = element("p", { class: "note row" });
    const more = element("details", { class: "more" }, this.short, element("div", { class: "popover" }, this.facts, this.people));
    place.append(more, this.linking, this.problem);
    this.cancel = button(t("cancel"), cancel, { class: "plain" });
    this.goOn = button(t("go_on"), goOn, { class: "plain" });
    this.bar = element("progress", { "aria-label": t("linked_bar") });
    this.said = element("span", {});
    this.linking.append(this.bar, this.said, this.cancel, this.goOn);
    this.linking.hidden = true;
  }

  show(summary) {
    const { terms, rows, decided, rows_decided: rowsDecided, coverage, verdicts } = summary;
    const covered = [
      t("sum_decided", { n: decided, terms: t("terms", { n: terms }), share: share(coverage.terms) }),
      t("sum_rows", { n: rowsDecided, rows: t("rows", { n: rows }), share: share(coverage.rows) }),
      t("sum_frequency", { share: share(coverage.frequency) }),
    ];
    const kinds = VERDICTS.filter((verdict) => verdicts[verdict]).map((verdict) => t(`sum_${verdict}`, { n: verdicts[verdict] }));
    const changed = Object.values(summary.changed).reduce((sum, times) => sum + times, 0);
    if (changed) kinds.push(t("sum_changed", { n: changed }));
    this.short.textContent = t("sum_short", { n: decided, total: terms });
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
    const left = running && speed ? t("time_left", { time: duration((total - done) / speed) }) : "";
    const lost = failed ? t("sum_failed", { n: failed }) : "";
    const how = { linking: left, stopped: t("linking_stopped"), waiting: t("linking_waits") }[state] ?? "";
    // A screen reader would read the line of an earlier state, too.
    this.said.textContent = state === "done" ? "" : `${t("sum_linked", { n: done, terms: t("terms", { n: total }) })}${lost}${how}${problem ? ` (${problem})` : ""}`;
    this.cancel.hidden = !running;
    this.goOn.hidden = running;
  }
}

const VERDICTS = ["concept", "nil", "flag"];

function personLine({ name, decided, assigned }) {
  return `${t("person_decided", { name, n: decided })}${assigned ? t("person_assigned", { n: assigned }) : ""}`;
}

function kappaLine({ reviewers, terms, agree, kappa }) {
  const agreement = kappa === null ? "" : t("kappa", { kappa: number(kappa, 2) });
  return `${t("agree_on", { who: t("and", { one: reviewers[0], other: reviewers[1] }), n: agree, terms: t("terms", { n: terms }) })}${agreement}`;
}

function share(part) {
  return `${Math.floor(100 * part + 1e-9)} %`;
}

function duration(seconds) {
  return seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`;
}
