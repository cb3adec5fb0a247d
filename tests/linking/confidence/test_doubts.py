"""What lowers the confidence of a link: guesses, contradictions, abbreviations, ordinary words."""

from __future__ import annotations

from functools import cache

import pytest

from nymlink.corpus.documents import Document, Mention
from nymlink.index.index import Index
from nymlink.linking.calibration import CONFIDENCE_FEATURES, Calibration
from nymlink.linking.doubts import GUESSED, GUESSED_NAME
from nymlink.linking.linker import Linker
from tests.index.small import vocabulary
from tests.linking.toy import CALIBRATION, linker_from

SURE = Calibration(9.0, dict.fromkeys(CONFIDENCE_FEATURES, 1.0), ((0.0, 0.5),), "nothing")
"""Sure of whatever there is."""


@cache
def built_index() -> Index:
    return Index.build(
        vocabulary(
            {
                "D:1": ["Microquoldemia"],
                "D:2": ["Cough"],
                "D:3": ["Abnormal hearing", "Hearing abnormality"],
                "D:4": ["Diabetes mellitus type 2", "Diabetes mellitus"],
                "D:5": ["Ovarian cancer"],
                "D:6": ["Celebrex overdose", "asporin deficiency"],
                "D:7": ["Moon facies", "Hammertoe"],
                "D:8": ["Chronic obstructive lung disease", ("COLD", "abbreviation")],
                "D:9": ["Clinically observed lymph deposit"],
                "D:10": ["Peripheral vascular disease", ("PVD", "abbreviation")],
                "D:11": ["Posterior vitreous detachment", ("PVD", "related")],
                "D:12": ["Pulmonary valve disorder"],
                "D:13": ["Deafness", "Asthma attack"],
                "D:14": ["Conjugation defect"],
                "D:15": ["Deletion of chromosome 4p"],
                "D:16": ["Stage III zorbitis"],
                "D:17": ["Factor V zorbitis"],
                "D:18": ["Peroneal palsy", "Quoldaxole"],
                "D:19": ["Acquired immunodeficiency syndrome", ("AIDS", "abbreviation")],
                "D:20": ["Severe"],
            }
        ),
        encoder=None,
    ).with_calibration(SURE.to_dict())


@cache
def built_linker() -> Linker:
    return Linker(built_index(), top_k=2)


@cache
def plain_index() -> Linker:
    return Linker(built_index(), top_k=2, guesses=False)


@cache
def portuguese_index() -> Index:
    return Index.build(vocabulary({"P:1": ["Dor de peito"], "P:2": ["Trombose do coração"]}), encoder=None)


class TestGuesses:
    def test_they_are_marked_and_less_sure(self) -> None:
        guessed, right = built_linker().link(["Ovarain cancer", "Ovarian cancer"])
        assert (guessed.query, guessed.guessed, right.guessed) == ("ovarian cancer", True, False)
        assert guessed.best.concept_id == right.best.concept_id
        assert guessed.notes == ("guessed: ovarian cancer",)
        without = plain_index().link("Ovarain cancer")
        assert (without.guessed, without.query, without.notes) == (False, "ovarain cancer", ())
        assert guessed.confidence == max(round(right.confidence * GUESSED_NAME, 6), without.confidence)

    def test_one_that_finds_another_concept_is_less_sure(self) -> None:
        index = Index.build(vocabulary({"X:1": ["zorbastic"], "X:2": ["xzorabstic"]}), encoder=None)
        [guessed] = Linker(index.with_calibration(SURE.to_dict())).link(["zorabstic"])
        assert guessed.guessed
        assert guessed.best.concept_id == "X:1"
        assert guessed.confidence == round(SURE.surest * GUESSED_NAME, 6)

    def test_one_that_is_no_name_is_half_as_sure(self) -> None:
        index = Index.build(vocabulary({"X:1": ["zorbastic"], "X:2": ["xzorabstic"]}), encoder=None)
        [guessed] = Linker(index.with_calibration(SURE.to_dict())).link(["zorabstic disorder"])
        assert (guessed.query, guessed.best.concept_id) == ("zorbastic disorder", "X:1")
        assert guessed.confidence == round(SURE.surest * GUESSED, 6)

    def test_one_in_place_of_a_right_word_is_half_as_sure(self) -> None:
        plain = Index.build(vocabulary({"X:1": ["heart attack"], "X:2": ["lung"]}), encoder=None).with_ranker(None)
        index = plain.with_calibration(CALIBRATION.to_dict())
        right, *guessed = Linker(index).link(["heart attack", "heart attck", "hart attack"])
        without = Linker(index, guesses=False).link(["heart attck", "hart attack"])
        for link, factor, other in zip(guessed, (GUESSED_NAME, GUESSED), without, strict=True):
            assert (link.query, link.guessed) == ("heart attack", True)
            assert link.confidence == max(round(right.confidence * factor, 6), other.confidence)

    def test_too_many_readings_are_none(self) -> None:
        consonants = "bcdfghjklmnpqrs"
        words = [f"{start}{letter}{end}" for start, end in (("ze", "uvo"), ("qa", "iwu")) for letter in consonants]
        names = [*words, "zesuvo qasiwu", "zebuvo qabiwu"]
        index = Index.build(vocabulary({f"X:{at}": [name] for at, name in enumerate(names)}), encoder=None)
        assert not Linker(index).link("zetuvo qatiwu", language="en").guessed

    @pytest.mark.parametrize(
        ("mention", "query"),
        [
            # A short word; a common word; two slips; a word alone.
            ("heart attck", "heart attack"),
            ("hart attack", "heart attack"),
            ("high blod prssure", "high blood pressure"),
            ("lung tumr", "lung tumor"),
            ("fevre", "fever"),
            # Two names as near; too short; a common word alone; no name; a symbol.
            ("lung tumur", "lung tumur"),
            ("big hed", "big hed"),
            ("hart", "hart"),
            ("heart attck today", "heart attck today"),
            ("heart aTtck", "heart attck"),
        ],
    )
    def test_names_with_slips(self, mention: str, query: str) -> None:
        names = ["heart attack", "high blood pressure", "lung tumor", "lung tumour", "fever", "big head", "heart"]
        index = Index.build(vocabulary({f"X:{place}": [name] for place, name in enumerate(names)}), encoder=None)
        link = Linker(index).link(mention, language="en")
        assert (link.query, link.guessed) == (query, query in names)

    def test_a_mention_is_guessed_as_a_whole_where_a_part_is(self) -> None:
        parts = Mention("x", parts=("Ovarain cancer", "Cough"))
        [link] = built_linker().link(Document("1", mentions=(parts,)))
        assert link.guessed
        assert link.notes == ("composite: 2 parts", "guessed: ovarian cancer")
        assert [part.guessed for part in link.parts] == [True, False]

    @pytest.mark.parametrize(
        "mention",
        [
            # The opposite; into a product; a product that no list has; a word of medicine.
            "macroquoldemia",
            "celebrax overdose",
            "asportin deficiency",
            "quoldazole",
            "perineal palsy",
        ],
    )
    def test_what_is_not_guessed(self, mention: str) -> None:
        link = built_linker().link(mention)
        assert (link.query, link.guessed) == (mention, False)


class TestContradictions:
    @pytest.mark.parametrize(
        ("mention", "concept_id", "why"),
        [
            ("macroquoldemia", "D:1", "'macroquoldemia', but 'microquoldemia' in the name"),
            ("no cough", "D:2", "'no' is not in the name"),
            ("cough excluded", "D:2", "'excluded' is not in the name"),
            ("normal hearing", "D:3", "'normal', but 'abnormal' in the name"),
            ("diabetes mellitus type 1", "D:4", "'type 1', but 'type 2' in the name"),
            ("deletion of chromosome 4q", "D:15", "'chromosome 4q', but 'chromosome 4p' in the name"),
            ("stage IV zorbitis", "D:16", "'stage iv', but 'stage iii' in the name"),
            ("factor VII zorbitis", "D:17", "'factor vii', but 'factor v' in the name"),
        ],
    )
    def test_they_are_said_and_never_sure(self, mention: str, concept_id: str, why: str) -> None:
        link = built_linker().link(mention)
        assert (link.best.concept_id, link.best.contradiction) == (concept_id, why)
        assert 0 < link.confidence < 0.3
        assert f"contradicts: {why}" in link.notes
        assert link.to_dict()["candidates"][0]["contradiction"] == why
        assert linker_from(built_index(), 0.3).link(mention).nil

    @pytest.mark.parametrize("mention", ["Cough", "hearing abnormal", "type 2 diabetes mellitus", "coughs"])
    def test_without_one_nothing_is_said(self, mention: str) -> None:
        link = built_linker().link(mention)
        assert link.best.contradiction is None
        assert link.confidence > 0.9

    @pytest.mark.parametrize("language", [None, "pt"])
    @pytest.mark.parametrize("mention", ["dor no peito", "trombose no coração"])
    def test_words_of_english_say_nothing_in_other_languages(self, mention: str, language: str | None) -> None:
        link = Linker(portuguese_index(), language=language).link(mention)
        assert link.best.concept_id.startswith("P:")
        assert link.best.contradiction is None

    def test_those_of_a_part_make_the_whole_unsure(self) -> None:
        [link] = built_linker().link([Mention("x", parts=("ovarian cancer", "without cough"))])
        assert link.confidence < 0.3
        assert link.parts[1].best.contradiction == "'without' is not in the name"


class TestAbbreviations:
    def test_meanings_are_names_and_initials(self) -> None:
        several, one = built_linker().link(["PVD", "AIDS"])
        assert (several.meanings, several.notes) == (3, ("abbreviation of 3 concepts",))
        assert (one.meanings, one.notes, one.confidence) == (1, (), SURE.surest)
        assert several.confidence == pytest.approx(one.confidence * 16 / 18, rel=0.01)

    def test_one_that_the_document_defines_has_one_meaning(self) -> None:
        text = "Peripheral vascular disease (PVD) is common. PVD hurts."
        start = text.rindex("PVD")
        [link] = built_linker().link(Document("1", text, (Mention("PVD", start, start + 3),)))
        assert (link.query, link.meanings) == ("peripheral vascular disease", 0)
        assert link.confidence == SURE.surest

    def test_other_mentions_have_none(self) -> None:
        assert [link.meanings for link in built_linker().link(["Cough", "zorbitis"])] == [0, 0]


class TestOrdinaryWords:
    def test_a_word_is_no_part_of_a_name(self) -> None:
        moon, hammer = built_linker().link(["moon", "hammer"])
        for link in (moon, hammer):
            assert link.best.concept_id == "D:7"
            assert (link.ordinary, link.notes) == (True, ("an ordinary word",))
            assert link.confidence <= 0.5
        assert built_linker().link("moon facies").notes == ()

    def test_a_clinical_word_is(self) -> None:
        asthma, deaf = built_linker().link(["asthma", "deaf"])
        assert (asthma.best.concept_id, deaf.best.concept_id) == ("D:13", "D:13")
        assert not asthma.ordinary
        assert not deaf.ordinary

    def test_a_word_is_no_abbreviation_unless_it_is_written_so(self) -> None:
        word, capitals, prepared = built_linker().link(["cold", "COLD", Mention("cold", prepared=True)])
        assert {link.best.concept_id for link in (word, capitals, prepared)} == {"D:8"}
        assert [link.ordinary for link in (word, capitals, prepared)] == [True, False, False]
        assert {link.meanings for link in (word, capitals, prepared)} == {2}
        assert word.confidence == pytest.approx(capitals.confidence / 2, abs=1e-6)
        assert word.notes == ("abbreviation of 2 concepts", "an ordinary word")


@pytest.mark.parametrize(
    ("mention", "says"),
    [
        ("severe zorb", "'zorb' is not in the name"),
        ("severe, progressive zorb", "'zorb' is not in the name"),
        ("severe", None),
        ("severeness", None),
        ("severely progressive", None),
    ],
)
def test_a_degree_alone_is_not_what_a_mention_names(mention: str, says: str | None) -> None:
    [link] = built_linker().link([mention])
    assert link.best is not None
    assert (link.best.concept_name, link.best.contradiction) == ("Severe", says)
