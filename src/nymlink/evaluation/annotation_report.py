"""The report of what an annotator finds, as text for people."""

from __future__ import annotations

from nymlink.evaluation.annotation import AnnotationEvaluation


def annotation_report(evaluation: AnnotationEvaluation) -> str:
    """Write an evaluation of annotation as a page of text."""
    rows = (
        ("mentions that overlap", evaluation.mentions, evaluation.macro_mention_f1),
        ("mentions, same offsets", evaluation.exact_mentions, None),
        ("concepts of documents", evaluation.concepts, evaluation.macro_document_f1),
    )
    lines = [
        f"documents   {evaluation.documents:,}",
        f"mentions    {evaluation.mentions.gold:,} in the gold, {evaluation.mentions.found:,} found",
        "",
        f"{'right concept (%)':24}{'P':>8}{'R':>8}{'F1':>8}{'F1, mean of documents':>24}",
    ]
    for label, score, macro in rows:
        shares = "".join(f"{100 * share:8.1f}" for share in (score.precision, score.recall, score.f1))
        lines.append(f"{label:24}{shares}" + ("" if macro is None else f"{100 * macro:24.1f}"))
    if evaluation.reliability is not None:
        lines.append(f"expected calibration error of the confidences: {evaluation.reliability.expected_error:.3f}")
    if evaluation.unlocated:
        lines.append(
            f"{evaluation.unlocated:,} gold mentions are not at their offsets: they count for documents only"
        )
    if evaluation.unknown:
        lines.append(f"{evaluation.unknown:,} gold mentions are of concepts that the vocabulary does not have")
    return "\n".join(lines) + "\n"
