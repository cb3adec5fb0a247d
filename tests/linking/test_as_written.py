"""Cells of tables as people write them: brackets, answers, ids, drugs, what notes say beside a name."""

from __future__ import annotations

import pytest

from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary
from tests.index.small import vocabulary as small
from tests.linking.toy import CALIBRATION

NAMES = {
    "D:1": ("Edema", "disease"),
    "D:2": ("Pulmonary edema", "disease"),
    "D:3": ("Tuberculosis", "disease"),
    "D:4": ("Intellectual disability", "disease"),
    "D:5": ("Intellectual disability, severe", "disease"),
    "D:6": ("Moderate", "modifier"),
    "D:7": ("Deep vein thrombosis", "disease"),
    "D:8": ("Pulmonary embolism", "disease"),
    "D:9": ("Pleural effusion", "disease"),
    "D:10": ("Absence seizure", "disease"),
    "D:11": ("Seizure", "disease"),
    "D:12": ("Deafness", "disease"),
    "C:1": ("Atenolol", "chemical"),
    "C:2": ("Metoprolol", "chemical"),
    "C:3": ("Sodium", "chemical"),
    "G:1": ("VHL", "gene"),
}


def vocabulary() -> Vocabulary:
    builder = TableBuilder()
    for concept, (name, kind) in NAMES.items():
        builder.concept(concept, semantic_types=(kind,))
        builder.name(concept, name, lang="en", kind="preferred")
    builder.name("C:3", "Na", lang="en", kind="exact")
    builder.concept("D:99", obsolete=True, replaced_by=["D:3"])
    builder.redirect("D:098", "D:3")
    return Vocabulary.of((Source("toy", "test"), builder.build()))


LINKER = Linker(Index.build(vocabulary(), encoder=None).with_calibration(CALIBRATION.to_dict()), top_k=3)


@pytest.mark.parametrize("mention", ["fever (-)", "(-) fever", "fever [-]", "no fever"])
def test_a_denied_finding_is_a_denied_part(mention: str) -> None:
    index = Index.build(small({"F:1": ["fever"], "F:2": ["NAD(+)"]}), encoder=None)
    always = Linker(index, composites="always")
    [part] = always.link(mention).parts
    assert part.context is not None
    assert part.context.negated is not None
    for other in ("fever (+)", "NAD(+)", "fever"):
        assert not always.link(other).parts


def test_an_id_contradicts_its_concept_in_nothing() -> None:
    index = Index.build(small({"HP:5978": ["type ii diabetes"], "HGNC:1097": ["BRAF"]}), encoder=None)
    linker = Linker(index.with_calibration(CALIBRATION.to_dict()))
    for mention in ("HP:5978", "HGNC:1097"):
        link = linker.link(mention)
        assert link.best is not None
        assert link.best.concept_id == mention
        assert link.best.contradiction is None
        assert link.confidence == linker.link(link.best.concept_name).confidence


def test_what_was_ruled_out_is_denied() -> None:
    for mention in ("ruled out deafness", "r/o deafness"):
        link = LINKER.link(mention)
        assert not link.left_out
        assert link.best is not None
        assert link.best.contradiction is not None


def test_thousands_of_digits_are_a_mention() -> None:
    assert LINKER.link("edema " + "7" * 5000).query.startswith("edema")


@pytest.mark.parametrize(
    ("mention", "concept", "left_out"),
    [
        ("Edema (pulmonary)", "D:2", ()),
        ("edema [mild]", "D:1", ("mild",)),
        ("edema (disorder)", "D:1", ("disorder",)),
        ("ID (severe)", "D:5", ()),
        ("ID (intellectual disability)", "D:4", ("ID",)),
        ("deep vein thrombosis (DVT)", "D:7", ("DVT",)),
        ("Deafness, unspecified", "D:12", ("unspecified",)),
        ("history of tuberculosis", "D:3", ("history of",)),
        ("h/o: deafness", "D:12", ("h/o",)),
        ("s/p pulmonary embolism", "D:8", ("s/p",)),
        ("left deafness", "D:12", ("left",)),
        ("suspected left deafness", "D:12", ("suspected", "left")),
        ("atenolol 25 mg tablet", "C:1", ("25 mg", "tablet")),
        ("Atenolol 12.5mg tabs p.o. bid", "C:1", ("12.5mg", "tabs", "p.o.", "bid")),
        ("metoprolol tartrate 5 mg/5 ml injection", "C:2", ("tartrate", "5 mg/5 ml", "injection")),
        ("DVT", "D:7", ()),
        ("Na", "C:3", ()),
    ],
)
def test_what_is_said_beside_a_name_is_no_part_of_it(
    mention: str, concept: str, left_out: tuple[str, ...]
) -> None:
    link = LINKER.link(mention)
    assert link.candidates[0].concept_id == concept
    assert link.left_out == left_out
    assert link.confidence is not None
    assert link.confidence > 0.7


@pytest.mark.parametrize(
    "mention",
    [
        "edema (excluded)",
        "seizure (none)",
        "absence of seizures",
        "seizures (absent)",
        "recombinant tuberculosis",
        "mouse deafness",
    ],
)
def test_what_says_another_thing_is_doubted(mention: str) -> None:
    confidence = LINKER.link(mention).confidence
    assert confidence is not None
    assert confidence < 0.4


def test_an_abbreviation_of_several_meanings_says_so() -> None:
    link = LINKER.link("PE")
    assert link.candidates[0].concept_id == "D:8"
    assert link.meanings == 2


@pytest.mark.parametrize(
    ("mention", "reason"),
    [
        ("-", "no letter"),
        ("???", "no letter"),
        ("N/A", "no answer"),
        ("unknown", "no answer"),
        (" none ", "no answer"),
        ("No", "no answer"),
        ("nicht bekannt", "no answer"),
        ("NA", "no answer"),
        ("ND", "no answer"),
        ("2024-11-03", "a date"),
        ("3.11.2024 10:45", "a date"),
        ("Nov 3, 2024", "a date"),
        ("12", "a number"),
        ("<0.5 %", "a number"),
        ("38.2 °C", "a number"),
    ],
)
def test_cells_that_name_nothing_are_nil_and_say_why(mention: str, reason: str) -> None:
    link = LINKER.link(mention)
    assert (link.nil, link.best, link.candidates) == (True, None, ())
    assert link.notes == (reason,)


def test_a_preferred_name_is_no_answer() -> None:
    builder = TableBuilder()
    builder.concept("A:1", semantic_types=("answer",))
    builder.name("A:1", "Unknown", lang="en", kind="preferred")
    vocabulary = Vocabulary.of((Source("answers", "test"), builder.build()))
    link = Linker(Index.build(vocabulary, encoder=None)).link("unknown")
    assert link.best is not None
    assert link.best.concept_id == "A:1"


@pytest.mark.parametrize(
    ("mention", "concept"),
    [
        ("D:12", "D:12"),
        ("d:12", "D:12"),
        ("D_12", "D:12"),
        ("D:99", "D:3"),
        ("D:098", "D:3"),
    ],
)
def test_an_id_is_its_concept(mention: str, concept: str) -> None:
    link = LINKER.link(mention)
    assert link.best is not None
    assert link.best.concept_id == concept
    assert link.best.concept_name == NAMES[concept][0]
    assert len(link.candidates) == 1
    assert link.confidence is not None
    assert link.confidence > 0.7


@pytest.mark.parametrize("mention", ["X:12", "D:5000", "http://example.org/", "1234567", "VHL"])
def test_other_texts_are_no_ids(mention: str) -> None:
    link = LINKER.link(mention)
    assert link.best is None or link.best.concept_name == mention or (link.confidence or 0) < 0.3


@pytest.mark.parametrize(
    ("mention", "parts"),
    [
        ("edema, deafness and seizures", ["edema", "deafness", "seizure"]),
        ("tuberculosis and pleural effusion", ["tuberculosis", "pleural effusion"]),
        ("no edema; deafness", ["no edema", "deafness"]),
        ("Intellectual disability, severe", []),
        ("pulmonary embolism", []),
    ],
)
def test_a_cell_of_several_findings_is_split_on_request(mention: str, parts: list[str]) -> None:
    linker = Linker(LINKER.index, composites="always")
    link = linker.link(mention)
    assert [part.mention.text for part in link.parts] == parts
