"""Genes, proteins and chemicals: verbatim names, signs, hyphens, Greek letters, words beside a name."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from nymlink.corpus.documents import Document, Mention
from nymlink.index.index import Index
from nymlink.linking.link import Link
from nymlink.linking.linker import Linker
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary
from tests.index.small import vocabulary
from tests.linking.toy import CALIBRATION

CHEMICALS = vocabulary(
    {
        "C:1": ["(+)-carvone"],
        "C:2": ["(-)-carvone"],
        "C:3": ["3'-hydroxyechinenone"],
        "C:4": ["3-hydroxyechinenone"],
        "C:5": ["CD4+"],
        "C:6": ["CD4-"],
        "C:7": ["carvone, (R)-(-)", "(-)-Carvone"],
        "C:8": ["1,11-dichloroundecane"],
    }
)


def genes() -> Vocabulary:
    builder = TableBuilder()
    rows = {
        "G:1": ("gene", ["EDN1", "endothelin 1", "ET-1"]),
        "G:2": ("gene", ["EDN2", "ET-2"]),
        "G:3": ("gene", ["MYC", "c-Myc"]),
        "G:4": ("gene", ["TNF", "tumor necrosis factor", "TNF-alpha"]),
        "G:5": ("gene", ["TGFA", "transforming growth factor alpha"]),
        "G:6": ("gene", ["MAGEE1", "MAGE family member E1", "DAMAGE"]),
        "G:7": ("gene", ["WAS", "WASP actin nucleation promoting factor"]),
        "G:8": ("gene", ["IL1R1", "IL-1RA"]),
        "G:9": ("gene", ["IL1RN", "IL1-RA"]),
        "G:10": ("gene", ["AKT1", "AKT"]),
        "F:1": ("protein family", ["AKT"]),
        "G:11": ("gene", ["BRAF"]),
        "G:12": ("gene", ["TP53", "p53"]),
        "D:1": ("disease", ["VHL", "von Hippel-Lindau disease"]),
        "G:13": ("gene", ["NKX2-5"]),
        "G:14": ("gene", ["CAMK2A", "CaMKII"]),
        "G:15": ("gene", ["ESRRA", "ERRalpha"]),
        "G:16": ("gene", ["SLTM", "Met"]),
        "G:17": ("gene", ["CTNNB1", "catenin beta-1"]),
        "G:18": ("gene", ["CTNNA1", "alpha-catenin"]),
        "G:19": ("gene", ["RPN1", "RPN-I"]),
        "G:20": ("gene", ["P2RX1", "P2X"]),
    }
    for concept_id, (semantic_type, names) in rows.items():
        builder.concept(concept_id, semantic_types=[semantic_type])
        for place, name in enumerate(names):
            builder.name(concept_id, name, lang="en", kind="exact" if place else "preferred")
    return Vocabulary.of((Source("genes", "test"), builder.build()))


@cache
def gene_index() -> Index:
    return Index.build(genes(), encoder=None).with_calibration(CALIBRATION.to_dict())


@cache
def built_linker() -> Linker:
    return Linker(gene_index(), top_k=3)


def best(link: Link) -> str | None:
    return link.candidates[0].concept_id if link.candidates else None


class TestVerbatimNames:
    def test_each_leads_to_its_concept(self, tmp_path: Path) -> None:
        built = Index.build(CHEMICALS, encoder=None)
        built.save(tmp_path / "index")
        for index in (built, Index.load(tmp_path / "index")):
            links = Linker(index).link([concept.name for concept in CHEMICALS])
            assert [best(link) for link in links] == [concept.id for concept in CHEMICALS]
            assert all(link.candidates[0].parts["writing"] == 1 for link in links)

    def test_then_come_those_that_differ_in_case_then_in_signs(self) -> None:
        linker = Linker(Index.build(CHEMICALS, encoder=None), top_k=3)
        first, second, third = linker.link("(-)-carvone").candidates
        assert [each.concept_id for each in (first, second, third)] == ["C:2", "C:7", "C:1"]
        assert first.parts["writing"] > second.parts["writing"] > third.parts["writing"]
        assert first.score > third.score

    def test_look_up_has_them_in_that_order(self) -> None:
        assert [name.concept_id for name in CHEMICALS.find("(-)-carvone")] == ["C:2", "C:7", "C:1"]
        assert [name.concept_id for name in CHEMICALS.find("CD4-")] == ["C:6", "C:5"]

    def test_queries_are_searched_once_whatever_their_writing(self) -> None:
        matches = gene_index().match(["braf", "braf"], 2, surfaces=["BRAF", "braf"])
        assert matches.concepts[0].tolist() == matches.concepts[1].tolist()

    def test_a_prepared_mention_has_no_writing(self) -> None:
        [link] = built_linker().link([Mention("braf", prepared=True)])
        assert "writing" not in link.candidates[0].parts


class TestWrittenTogether:
    @pytest.mark.parametrize(
        ("mention", "concept_id"),
        [
            ("ET1", "G:1"),
            ("ET 2", "G:2"),
            ("cMyc", "G:3"),
            ("TNFα", "G:4"),
            ("TNFalpha", "G:4"),
            ("TNF-a", "G:4"),
            ("TGFalpha", "G:5"),
            ("TGF-α", "G:5"),
            ("NKX25", "G:13"),
            ("CaMK2", "G:14"),
            ("ERR-alpha", "G:15"),
            ("RPNI", "G:19"),
            ("RPN 1", "G:19"),
            ("P2-X", "G:20"),
        ],
    )
    def test_they_are_found(self, mention: str, concept_id: str) -> None:
        link = built_linker().link(mention)
        assert (best(link), link.guessed, link.candidates[0].score) == (concept_id, False, 1)

    def test_greek_letters_are_spelt_out_where_no_name_is_equal(self) -> None:
        assert best(built_linker().link("β-catenin")) == best(built_linker().link("beta-catenin")) == "G:17"

    def test_symbols_are_not_guessed(self) -> None:
        # One letter from "ERRalpha".
        assert not built_linker().link("ERalpha").guessed

    def test_all_concepts_of_a_form_are_a_tie(self) -> None:
        link = built_linker().link("IL1RA")
        assert {candidate.concept_id for candidate in link.candidates[:2]} == {"G:8", "G:9"}
        assert [candidate.score for candidate in link.candidates[:2]] == [1, 1]
        assert link.notes == ("a name of 2 concepts",)
        assert link.confidence <= 0.5

    def test_digits_stay_apart(self) -> None:
        assert Linker(Index.build(CHEMICALS, encoder=None)).link("11,1-dichloroundecane").candidates[0].score < 1


class TestWordsBesideAName:
    @pytest.mark.parametrize(
        ("mention", "concept_id", "left_out"),
        [
            ("human TP53", "G:12", ("human",)),
            ("BRAF V600E", "G:11", ("V600E",)),
            ("p53 protein", "G:12", ("protein",)),
            ("BRAFs", "G:11", ()),
            ("BRAFV600E", "G:11", ("V600E",)),
            ("mouse TNFα", "G:4", ("mouse",)),
        ],
    )
    def test_they_are_left_out_and_said(self, mention: str, concept_id: str, left_out: tuple[str, ...]) -> None:
        link = built_linker().link(mention)
        assert (best(link), link.left_out) == (concept_id, left_out)
        assert all(repr(part) in " ".join(link.notes) for part in left_out)
        assert link.candidates[0].contradiction is None

    def test_the_gene_of_a_disease_is_not_the_disease(self) -> None:
        assert built_linker().link("VHL gene").confidence < built_linker().link("VHL").confidence / 2
        assert built_linker().link("BRAF gene").confidence == built_linker().link("BRAF").confidence


class TestConfidence:
    @pytest.mark.parametrize("mention", ["damage", "Damage", "was"])
    def test_ordinary_words_in_small_letters_are_no_symbols(self, mention: str) -> None:
        link, symbol = built_linker().link([mention, mention.upper()])
        assert best(link) == best(symbol)
        assert link.ordinary
        assert not symbol.ordinary
        assert link.confidence < symbol.confidence / 3

    def test_nor_is_a_symbol_with_one_capital(self) -> None:
        small, symbol = built_linker().link(["met", "Met"])
        assert best(small) == best(symbol) == "G:16"
        assert (small.ordinary, symbol.ordinary) == (True, False)
        assert small.confidence < symbol.confidence / 3

    def test_a_symbol_of_gene_and_family_is_said_to_be_one(self) -> None:
        link = built_linker().link("AKT")
        assert [candidate.concept_id for candidate in link.candidates[:2]] == ["F:1", "G:10"]
        assert "a name of 2 concepts" in link.notes

    def test_a_document_settles_what_it_defines(self) -> None:
        names = {"G:1": ["ESR1", "estrogen receptor", "ER"], "G:2": ["EREG", "ER"], "F:1": ["ER"]}
        linker = Linker(Index.build(vocabulary(names), encoder=None))
        text = "The estrogen receptor (ER) was seen. ER is here."
        start = text.rindex("ER")
        [link] = linker.link(Document("1", text, (Mention("ER", start, start + 2),)))
        assert best(linker.link("ER")) == "F:1"
        assert (best(link), link.tied) == ("G:1", 1)


def doubtful() -> Linker:
    builder = TableBuilder()
    for concept, names in (
        ("G:1", ["CRTC1", "TORC1"]),
        ("G:2", ["HBB", "H-B"]),
        ("G:3", ["EIF2AK3", "PERK"]),
        ("G:4", ["POR"]),
        ("G:5", ["BRCA1"]),
        ("G:6", ["KCNH2", "ERG1"]),
    ):
        builder.concept(concept, semantic_types=["gene"])
        for name in names:
            builder.name(concept, name, lang="en", kind="exact")
    vocabulary = Vocabulary.of((Source("genes", "test"), builder.build()))
    return Linker(Index.build(vocabulary, encoder=None).with_calibration(CALIBRATION.to_dict()))


@pytest.mark.parametrize("mention", ["mTORC1", "Hb", "pERK", "por", "hERG1"])
def test_short_symbols_that_are_written_otherwise_are_doubted(mention: str) -> None:
    confidence = doubtful().link(mention).confidence
    assert confidence is not None
    assert confidence <= 0.5


@pytest.mark.parametrize("mention", ["TORC1", "H-B", "PERK", "POR", "brca1", "ERG1"])
def test_symbols_as_they_are_written_are_not(mention: str) -> None:
    confidence = doubtful().link(mention).confidence
    assert confidence is not None
    assert confidence > 0.9


SUBSTANCES = vocabulary(
    {
        "S:1": ["Sodium"],
        "S:2": ["Nitric Oxide"],
        "S:3": ["Calcium", "calcium ion"],
        "S:4": ["CA2 region"],
        "S:5": ["icatibant"],
    }
)


@pytest.mark.parametrize(
    ("mention", "concept"), [("Na", "S:1"), ("Na+", "S:1"), ("Ca(2+)", "S:3"), ("Ca²⁺", "S:3"), ("Hoe-140", "S:5")]
)
def test_symbols_of_chemicals_are_read(mention: str, concept: str) -> None:
    link = Linker(Index.build(SUBSTANCES, encoder=None)).link(mention)
    assert link.best is not None
    assert link.best.concept_id == concept


def test_no_is_an_answer_in_a_table_and_a_substance_in_a_text() -> None:
    linker = Linker(Index.build(SUBSTANCES, encoder=None))
    assert linker.link("NO").nothing == "no answer"
    [link] = linker.link(Document("1", "NO relaxes vessels.", (Mention("NO", 0, 2),)))
    assert link.best is not None
    assert link.best.concept_id == "S:2"
