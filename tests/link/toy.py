"""A small index and its linker."""

from __future__ import annotations

from nymlink.index.index import Index
from nymlink.link.linker import Linker
from nymlink.link.model import Link
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
INDEX = Index.build(VOCABULARY)
LINKER = Linker(INDEX, top_k=4)


def ids(link: Link) -> list[str]:
    return [candidate.concept_id for candidate in link.candidates]
