"""The benchmark of annotation, on toys, where no figure means anything."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest

from nymlink.corpus.documents import Corpus, Document, Mention
from nymlink.evaluation.annotation import evaluate_annotation
from tests.annotation.toy import VOCABULARY, the_annotator


def test_a_plain_matcher_is_compared(script: Callable[[str], ModuleType]) -> None:
    benchmark = script("annotation.annotate")
    plain = script("peers.annotators.plain_matcher").PlainMatcher(VOCABULARY)
    text = "Seizures: a RENAL-anomaly, an epileptic seizure; kidney cysts."
    gold = Corpus("toy", (Document("1", text, (Mention("Seizures", 0, 8, "", ("P:5",)),)),))
    [(_, links)] = plain.annotate_documents(gold.documents)
    assert [(link.mention.text, link.best.concept_id) for link in links] == [
        ("RENAL-anomaly", "P:1"),
        ("epileptic seizure", "P:5"),
    ]
    rows = [
        {"": name, **benchmark._figures(evaluate_annotation(annotator, gold).to_dict(), name)}
        for name, annotator in (("plain", plain), ("ours", the_annotator()))
    ]
    table = benchmark.text({"found": rows, "ways": rows, "making": rows, "speed": rows})
    assert "| plain | 0.0 | 0.0 | 0.0 |" in table
    assert "| ours | 25.0 | 100.0 | 40.0 |" in table


def test_curves_are_drawn() -> None:
    pytest.importorskip("matplotlib")
    from benchmarks.plots.annotation_curves import draw_annotation_curves

    gold = Corpus("toy", (Document("1", "Seizures", (Mention("Seizures", 0, 8, "", ("P:5",)),)),))
    curve = evaluate_annotation(the_annotator(), gold).to_dict()["curve"]
    left, right = draw_annotation_curves({"toy": curve}).axes
    assert left.lines[0].get_xydata().tolist()[0] == [100, 100]
    assert (left.get_title(), right.get_title()) == ("Mentions", "Concepts of documents")
