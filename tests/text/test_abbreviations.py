from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.text.abbreviations import Definition, find_definitions
from nymlink.text.abbreviations.long_forms import SPELLINGS, Spelling
from nymlink.text.abbreviations.short_forms import PATTERNS, Pattern, letters_of

WORDS = st.sampled_from(
    "( ) [ ] AB ABs A a alpha beta Beta-alpha of ; . , = or β 1 B-1 1,2- (R)-alpha 17-beta-alpha İ B(A)".split()
)


def found(text: str, *, classic: bool = False) -> list[tuple[str, str]]:
    return [(one.short, one.long) for one in find_definitions(text, classic=classic)]


@pytest.mark.parametrize(
    ("text", "definitions"),
    [
        # both orders
        ("in Wiskott-Aldrich syndrome (WAS) and", [("WAS", "Wiskott-Aldrich syndrome")]),
        ("and WAS (Wiskott-Aldrich syndrome) in", [("WAS", "Wiskott-Aldrich syndrome")]),
        # one word, several words, digits, hyphens, slashes, Greek letters
        ("phenylketonuria (PKU)", [("PKU", "phenylketonuria")]),
        ("alkaptonuria (aku)", [("aku", "alkaptonuria")]),
        ("glucose-6-phosphate dehydrogenase (G6PD)", [("G6PD", "glucose-6-phosphate dehydrogenase")]),
        ("spinocerebellar ataxia type 3 (SCA3)", [("SCA3", "spinocerebellar ataxia type 3")]),
        ("the ataxia-telangiectasia (A-T) gene", [("A-T", "ataxia-telangiectasia")]),
        ("cleft lip/palate (CL/P)", [("CL/P", "cleft lip/palate")]),
        ("α1-antitrypsin (AAT) deficiency", [("AAT", "α1-antitrypsin")]),
        ("alanine aminotransferase (ALT)", [("ALT", "alanine aminotransferase")]),
        # the first clause of the bracket counts
        ("Tay-Sachs disease (TSD; MIM 272800)", [("TSD", "Tay-Sachs disease")]),
        ('myasthenia gravis ["MG"]', [("MG", "myasthenia gravis")]),
        # as many words as explain letters, not the nearest
        ("attenuated adenomatous polyposis coli (AAPC)", [("AAPC", "attenuated adenomatous polyposis coli")]),
        ("with hereditary hemochromatosis (HH)", [("HH", "hereditary hemochromatosis")]),
        ("Assignment of the aspartylglucosaminidase gene (AGA)", [("AGA", "aspartylglucosaminidase")]),
        # a word that carries the name is not part of it
        ("the adenomatous polyposis coli gene (APC)", [("APC", "adenomatous polyposis coli")]),
        # plurals
        ("levodopa-induced dyskinesias (LIDs)", [("LIDs", "levodopa-induced dyskinesias")]),
        ("quantitative trait loci (QTLs)", [("QTLs", "quantitative trait loci")]),
        # nested
        ("attenuated (familial adenomatous polyposis (FAP))", [("FAP", "familial adenomatous polyposis")]),
        (
            "adrenoleukodystrophy (ALD) and adolescent cerebral ALD (AdolCALD)",
            [("ALD", "adrenoleukodystrophy"), ("AdolCALD", "adolescent cerebral ALD")],
        ),
        # a complete explanation beats another, wherever they stand
        (
            "adrenomyeloneuropathy (AMN). Others. Neuropathy (AMN)",
            [("AMN", "adrenomyeloneuropathy")],
        ),
        # a sentence is not left
        ("Prader-Willi was here. Syndrome (PWS)", []),
        # both in one bracket, after others, after words that lead in, before a value
        ("vessels (blood-brain barrier, BBB) in", [("BBB", "blood-brain barrier")]),
        ("the gene (adenomatous polyposis coli or APC)", [("APC", "adenomatous polyposis coli")]),
        ("superoxide dismutase (EC 1.15.1.1; SOD)", [("SOD", "superoxide dismutase")]),
        ("muscular dystrophies (Becker muscular dystrophy; also known as BMD)", []),
        ("Becker muscular dystrophy (also known as BMD)", [("BMD", "Becker muscular dystrophy")]),
        ("odds ratio (OR 2.3)", [("OR", "odds ratio")]),
        ("odds ratio (OR = 2.3)", [("OR", "odds ratio")]),
        ("pregnant mare serum (PMS 10 IU/kg, twice)", [("PMS", "pregnant mare serum")]),
        # chemicals, with their locants
        ("delta-9-tetrahydrocannabinol (THC)", [("THC", "delta-9-tetrahydrocannabinol")]),
        ("by delta 9-tetrahydrocannabinol (THC)", [("THC", "delta 9-tetrahydrocannabinol")]),
        (
            "3-hydroxy-3-methylglutaryl coenzyme A (HMG-CoA)",
            [("HMG-CoA", "3-hydroxy-3-methylglutaryl coenzyme A")],
        ),
        ("2,4-dinitrophenol (DNP)", [("DNP", "2,4-dinitrophenol")]),
        ("5,7-dihydroxytryptamine (5,7-DHT)", [("5,7-DHT", "5,7-dihydroxytryptamine")]),
        ("MDMA (3,4-methylenedioxymethamphetamine, ecstasy)", [("MDMA", "3,4-methylenedioxymethamphetamine")]),
        ("(R)-alpha-methylhistamine (RAMH)", [("RAMH", "(R)-alpha-methylhistamine")]),
        ("clozapine(CLP) in", [("CLP", "clozapine")]),
        # articles
        ("A Lite BERT (ALBERT)", [("ALBERT", "A Lite BERT")]),
        # lower case
        ("the amino acid (aa) sequence", [("aa", "amino acid")]),
        ("given intravenously (i.v.) twice", [("i.v.", "intravenously")]),
        # single letters
        ("with testosterone (T, 5 mg/kg)", [("T", "testosterone")]),
        ("the respiratory quotient (R) was", [("R", "respiratory quotient")]),
        # read otherwise than written
        ("17-beta-estradiol (E2)", [("E2", "17-beta-estradiol")]),
        ("three-dimensional (3D)", [("3D", "three-dimensional")]),
        ("ovariectomized (OVX) rats", [("OVX", "ovariectomized")]),
        # symbols with an index
        ("tidal volume (V(T)) fell", [("V(T)", "tidal volume")]),
        ("the dissociation constant (Kd)", [("Kd", "dissociation constant")]),
        ("a transepithelial resistance (Rt) of", [("Rt", "transepithelial resistance")]),
        # a phrase between
        ("the myosin-binding subunit of myosin phosphatase (MBS)", [("MBS", "myosin-binding subunit")]),
        # words within tokens
        ("tissue-type plasminogen activator (tPA)", [("tPA", "tissue-type plasminogen activator")]),
        ("non-high-density lipoprotein (HDL)", [("HDL", "high-density lipoprotein")]),
        ("Ngn3/paired box factor 6 (PAX6)", [("PAX6", "paired box factor 6")]),
        ("with cytochrome c oxidase (COX)", [("COX", "cytochrome c oxidase")]),
        # none of these are definitions
        ("coarctation of the aorta (AOR = 2.7)", []),
        ("with prilocaine (P = 0.03)", []),
        ("at normal [Na]o", []),
        ("gamma-aminobutyric acid(A) receptors", []),
        ("produced by hypoventilation (pH 7.05)", []),
        ("arterial pressure was monitored (APM)", []),
        ("all assays of serum (as) in", []),
        ("two methods: (i) one, (ii) other", []),
        ("patients (mice) were", []),
        ("severe forms (type II) were", []),
        ("analysis of serum chemistry (ALT)", []),
        ("AMN and its companion (AMN)", []),
        ("Duchenne or Becker muscular dystrophy (DMD)", []),
        ("before (T0) and after 30 minutes (T30)", []),
        ("(", []),
        ("()", []),
        ("( )", []),
        ("", []),
    ],
)
def test_examples(text: str, definitions: list[tuple[str, str]]) -> None:
    assert found(text) == definitions


@pytest.mark.parametrize("one", [*PATTERNS, *SPELLINGS], ids=lambda one: one.name)
def test_each_pattern_and_spelling_finds_its_example(one: Pattern | Spelling) -> None:
    assert len(found(one.example)) == 1
    assert len(found(one.example, classic=True)) == one.classic


def test_the_order_of_the_words_comes_before_the_inverted_one() -> None:
    assert found("Myotonic dystrophy (DM) is") == [("DM", "Myotonic dystrophy")]
    assert found("diabetes mellitus (DM) and myotonic dystrophy") == [("DM", "diabetes mellitus")]


def test_offsets_are_code_points() -> None:
    text = "😀 Sjögren–Larsson syndrome (SLS)"
    assert find_definitions(text) == (
        Definition("SLS", "Sjögren–Larsson syndrome", short_start=28, short_end=31, long_start=2, long_end=26),
    )


def check(text: str) -> None:
    for one in find_definitions(text):
        assert text[one.short_start : one.short_end] == one.short
        assert text[one.long_start : one.long_end] == one.long
        assert one.short_end <= one.long_start or one.long_end <= one.short_start
        assert 1 <= len(one.short) <= 15
        assert (one.short, one.long) == (one.short.strip(), one.long.strip())
        assert len(letters_of(one.long)) > len(letters_of(one.short))


@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    check(text)


@given(st.lists(WORDS, max_size=40).map(" ".join))
def test_text_full_of_brackets(text: str) -> None:
    check(text)


@pytest.mark.parametrize("text", ["(" * 100_000, "(" + " " * 100_000 + ")", "(A" * 50_000, "aaaa (AAAA) " * 2_000])
def test_long_strange_texts_take_no_long_time(text: str) -> None:
    check(text)
