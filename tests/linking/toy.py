"""A small index and its linker."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from nymlink.index.index import Index
from nymlink.linking.calibration import Calibration
from nymlink.linking.link import Link
from nymlink.linking.linker import Linker
from tests.index.small import vocabulary

VOCABULARY = vocabulary(
    {
        "D:1": ["breast cancer", "carcinoma of the breast", ("BC", "abbreviation")],
        "D:2": ["ovarian cancer"],
        "D:3": ["myocardial infarction", "heart attack", ("MI", "abbreviation"), "心筋梗塞", "احتشاء عضل القلب"],
        "D:4": ["mitral insufficiency", ("MI", "related")],
        "D:5": ["myotonia", ("mi", "exact")],
        "D:6": ["mental illness", ("M.I.", "broad"), ("mi", "broad")],
        "D:7": ["liver tumour"],
        "D:8": ["Hirschsprung's disease"],
        "D:9": ["bilirubin conjugation defect", "infarctus du myocarde"],
    }
)

CALIBRATION = Calibration(
    -4.5,
    {
        "score": 3.0,
        "ahead": 3.0,
        "alone": 1.0,
        "covered": 1.0,
        "covering": 1.0,
        "known": 0.5,
        "ranked": 0.5,
        "similar": 0.0,
        "apart": 0.0,
    },
    ((0.0, 0.75), (0.25, 0.8), (0.5, 0.9), (0.9, 0.97)),
    "200 mentions of a corpus",
)


@cache
def built_index() -> Index:
    return Index.build(VOCABULARY, encoder=None).with_ranker(None)


@cache
def built_linker() -> Linker:
    return Linker(built_index(), top_k=4)


def linker_from(index: Index, confidence: float) -> Linker:
    """A linker to a calibrated index that takes links of less confidence to be NIL."""
    curve = ((0.0, 0.0), (confidence, 1.0)) if confidence > 0 else ((0.0, 1.0),)
    calibration = replace(Calibration.of(index), curve=curve)
    return Linker(index.with_calibration(calibration.to_dict()), target_precision=1.0)


def ids(link: Link) -> list[str]:
    return [candidate.concept_id for candidate in link.candidates]
