"""The report of an evaluation, as text for people."""

from __future__ import annotations

from collections import Counter

from nymlink.evaluation.evaluation import ACCURACY_AT, RECALL_AT, Evaluation

_READINGS = {
    "acc": "by name, lenient",
    "strict_acc": "by name, strict",
    "concept_acc": "by concept",
}


def report(evaluation: Evaluation, *, examples: int = 10) -> str:
    """Write an evaluation as a page of text: counts, figures with intervals, breakdown, and mistakes.

    Args:
        evaluation: the evaluation.
        examples: the number of mistakes shown.
    """
    figures, intervals, counts = evaluation.figures, evaluation.intervals, evaluation.counts
    settings = evaluation.settings
    dictionary = " + ".join(source["file"] or source["name"] for source in settings["dictionary"])
    handling = "scored as wrong" if settings["keep_unknown"] else "left out"
    lines = [
        f"corpus      {settings['corpus']}"
        + (f", types {', '.join(settings['types'])}" if settings["types"] is not None else ""),
        f"dictionary  {dictionary}: {settings['concepts']:,} concepts, "
        f"{settings['distinct_names']:,} distinct names",
        f"mentions    {counts.mentions:,} in {counts.documents:,} documents; {counts.without_gold:,} without "
        f"gold id left out; {counts.unknown_gold:,} with gold id not in the dictionary {handling}",
        f"scored      {counts.scored:,} ({counts.composite:,} composite)",
        "",
        f"{'accuracy (%)':34}" + "".join(f"{f'@{k}':>8}" for k in ACCURACY_AT) + "    95 % interval of @1",
    ]
    for name, label in _READINGS.items():
        low, high = intervals[f"{name}@1"]
        shares = "".join(f"{100 * figures[f'{name}@{k}']:8.1f}" for k in ACCURACY_AT)
        lines.append(f"{label:34}{shares}    {100 * low:.1f} to {100 * high:.1f}")
    lines += [
        "",
        f"{'recall (%) of concepts':34}" + "".join(f"{f'@{k}':>8}" for k in RECALL_AT),
        f"{'':34}" + "".join(f"{100 * figures[f'recall@{k}']:8.1f}" for k in RECALL_AT),
        "",
        f"mean reciprocal rank: {figures['mrr']:.3f} by name, {figures['concept_mrr']:.3f} by concept",
    ]
    lines += ["", f"{'by name, lenient, of mentions with':52}{'n':>8}{'@1':>8}{'@5':>8}"]
    for row in evaluation.breakdown:
        share = f"{row.n:8,}{100 * row.acc_1:8.1f}{100 * row.acc_5:8.1f}"
        lines.append(f"{row.group:26}{row.label:26}{share}")
    if evaluation.mistakes:
        lines += ["", f"{len(evaluation.mistakes):,} mentions whose first concept is wrong:"]
        reasons = Counter(mistake.why for mistake in evaluation.mistakes)
        lines += [f"{number:8,}  {why}" for why, number in reasons.most_common()]
        lines += ["", "for example:"] if examples else []
        step = max(len(evaluation.mistakes) // max(examples, 1), 1)
        for mistake in list(evaluation.mistakes)[::step][:examples]:
            lines.append(
                f"  {mistake.mention!r}: gold {mistake.gold}; predicted {mistake.predicted} ({mistake.why})"
            )
    return "\n".join(lines) + "\n"
