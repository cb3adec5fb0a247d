"""Texts as clinicians write them: phrases, lines, forms, signs, letters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.annotation.annotator import Annotator
from nymlink.index.index import Index
from nymlink.text.aligned_text import LINE_END, align, mark_lines
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary
from tests.index.small import vocabulary as small_vocabulary

NAMES = (
    *("Broad thumb", "Broad nose", "Small thumb", "Narrow palate", "High palate", "Palate", "Nose", "Thumb"),
    *(
        "Kidney cyst",
        "Liver cyst",
        "Atonic seizure",
        "Seizure",
        "Hypotonia",
        "Absent speech",
        "Scoliosis",
        "Fever",
    ),
    *(
        "Arthritis, rheumatoid",
        "Myopathy (congenital)",
        "Ataxia: late",
        "Hearing loss",
        "Cardiomyopathy",
        "Fibrosis",
    ),
    *(
        "Rheumatoid nodule",
        "Small ear",
        "Lobe",
        "Cough",
        "Beta-catenin deposit",
        "Conductive hearing loss",
        "Ataxia",
    ),
)


def vocabulary() -> Vocabulary:
    builder = TableBuilder()
    for place, name in enumerate(NAMES):
        builder.concept(f"P:{place}", semantic_types=("phenotype",))
        builder.name(f"P:{place}", name, lang="en", kind="preferred")
    return Vocabulary.of((Source("toy", "test"), builder.build()))


ANNOTATOR = Annotator(Index.build(vocabulary(), encoder=None))


def found(text: str) -> list[tuple[str, str]]:
    return [
        (link.mention.text, link.best.concept_name) for link in ANNOTATOR.annotate(text) if link.best is not None
    ]


def denied(text: str) -> set[str]:
    links = ANNOTATOR.annotate(text)
    return {link.mention.text for link in links if link.context is not None and link.context.negated is not None}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a small nose with broad thumbs", ["Nose", "Broad thumb"]),
        ("cysts of the kidney", ["Kidney cyst"]),
        ("a thumb with a narrow palate", ["Thumb", "Narrow palate"]),
        ("hypoplastic ear lobe", ["Lobe"]),
        ("small ears", ["Small ear"]),
    ],
)
def test_words_of_two_phrases_are_no_name(text: str, expected: list[str]) -> None:
    assert [name for _, name in found(text)] == expected


@pytest.mark.parametrize("name", [name for name in NAMES if not name.replace(" ", "").replace("-", "").isalpha()])
def test_names_with_signs_are_found_as_they_are_written(name: str) -> None:
    assert found(f"She has {name} now.") == [(name, name)]
    assert found(name.upper()) == [(name.upper(), name)]


def test_a_line_may_turn_a_name_round() -> None:
    assert found("Hearing loss, conductive\nFever") == [
        ("Hearing loss, conductive", "Conductive hearing loss"),
        ("Fever", "Fever"),
    ]
    assert found("Fever, cough, ataxia.") == [("Fever", "Fever"), ("cough", "Cough"), ("ataxia", "Ataxia")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Atonic\nSeizures", ["Seizure"]),
        ("- kidney\n- cyst of liver", ["Liver cyst"]),
        ("He had a severe and long lasting episode of atonic\nseizures and fever.", ["Atonic seizure", "Fever"]),
        ("Problems:\n1. Broad\n2. Thumb", ["Thumb"]),
        ("Broad\tThumb", ["Thumb"]),
        ("The girl has a broad\nthumb.", ["Broad thumb"]),
    ],
)
def test_lines_of_lists_are_not_joined_and_wrapped_lines_are(text: str, expected: list[str]) -> None:
    joined = text.replace("broad\nthumb", "broad and\nthumb") if "girl" in text else text
    names = [name for _, name in found(joined)]
    assert names == (expected if joined == text else ["Thumb"])


def test_wrapped_prose_has_names_over_its_line_ends() -> None:
    prose = (
        "The second child of these parents was seen at the age of three years with a\n"
        "broad thumb and a long history of fever and cough, and later with atonic\n"
        "seizures that did not respond to any treatment that was offered to them and\n"
        "their family."
    )
    assert LINE_END not in mark_lines(prose)
    assert ("atonic\nseizures", "Atonic seizure") in found(prose)


@pytest.mark.parametrize(
    ("text", "mention"),
    [
        ("cardio-\u00admyopathy", "cardio-\u00admyopathy"),
        ("a hypo\u00adtonia", "hypo\u00adtonia"),
        ("cardiomyo\u200bpathy", "cardiomyo\u200bpathy"),
        ("pulmonary ﬁbrosis", "ﬁbrosis"),
        ("a β-catenin deposit", "β-catenin deposit"),
        ("a se\u0301izure", "se\u0301izure"),
        ("ｆｅｖｅｒ", "ｆｅｖｅｒ"),
    ],
)
def test_letters_are_read_and_offsets_are_those_of_the_text(text: str, mention: str) -> None:
    [link] = ANNOTATOR.annotate(text)
    assert link.mention.text == mention
    assert text[link.mention.start : link.mention.end] == mention


@given(st.text(alphabet="ab \n\t-.,ﬁβé\u0301\u00ad\u200b1:", max_size=60))
def test_an_aligned_text_keeps_places(text: str) -> None:
    assert len(mark_lines(text)) == len(text)
    aligned = align(text)
    assert (
        aligned.original(0, len(aligned.text)) == (0, len(text)) or not aligned.text or text[0] in "\u00ad\u200b"
    )
    for start in range(len(aligned.text)):
        first, last = aligned.original(start, start + 1)
        assert 0 <= first <= len(text)
        assert last <= len(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("absent speech, fever and scoliosis", set()),
        ("non-smoker with fever", set()),
        ("No cough because of fever.", {"cough"}),
        ("No cough and has fever", {"cough"}),
        ("No cough, his scoliosis is mild", {"cough"}),
        ("Denies cough or SOB. ECG shows fever", {"cough"}),
        ("Without fever, the girl has scoliosis.", {"fever"}),
        ("He did not have fever, cough or ataxia.", {"fever", "cough", "ataxia"}),
        ("- no fever\n- cough", {"fever"}),
        ("Fever: No\nCough: yes", {"Fever"}),
        ("Fever\tNone\nAtaxia\tYes", {"Fever"}),
        ("fever - absent; cough - present", {"fever"}),
        ("(-) fever (+) cough", {"fever"}),
        ("[ ] fever\n[x] cough", {"fever"}),
        ("Neg for fever, cough", {"fever", "cough"}),
        ("Negative: fever, cough. Positive: ataxia", {"fever", "cough"}),
        ("no known history of fever", {"fever"}),
    ],
)
def test_what_is_denied_is_told(text: str, expected: set[str]) -> None:
    assert denied(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("third child of healthy parents and has fever", False),
        ("Mother reports that he has fever", False),
        ("FHx: fever", True),
        ("Her sister, who has fever, was seen", True),
        ("His mother had fever", True),
        ("His father has ataxia; the boy has fever", False),
    ],
)
def test_findings_of_the_family_are_told_from_those_of_the_patient(text: str, expected: bool) -> None:
    [context] = [link.context for link in ANNOTATOR.annotate(text) if link.mention.text == "fever"]
    assert context is not None
    assert (context.family is not None) is expected


def meanings() -> Vocabulary:
    builder = TableBuilder()
    for concept, parent, names in (
        ("H:0", (), ("Heart finding",)),
        ("H:1", ("H:0",), ("Atrial septal defect", "ASD")),
        ("H:2", ("H:0",), ("Patent ductus arteriosus", "PDA")),
        ("B:0", (), ("Behavior",)),
        ("B:1", ("B:0",), ("Autistic behavior", "ASD")),
        ("B:2", ("B:0",), ("Anxiety",)),
        ("L:1", (), ("Acute lymphoblastic leukemia", "ALL")),
        ("A:1", (), ("Acute gouty state", "AGS")),
    ):
        builder.concept(concept, semantic_types=("phenotype",), parents=parent)
        for place, name in enumerate(names):
            builder.name(concept, name, lang="en", kind="abbreviation" if place else "preferred")
    return Vocabulary.of((Source("toy", "test"), builder.build()))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PDA and ASD", ["H:2", "H:1"]),
        ("anxiety and ASD", ["B:2", "B:1"]),
        ("The girl has ASD.", ["H:1"]),  # the usual meaning in clinical notes
        ("ALL OF THEM WERE WELL", []),
        ("She has ALL.", ["L:1"]),
        ("AGS cells were grown", []),
        ("AGS was diagnosed", ["A:1"]),
    ],
)
def test_abbreviations_mean_what_the_text_speaks_for(text: str, expected: list[str]) -> None:
    annotator = Annotator(Index.build(meanings(), encoder=None))
    links = annotator.annotate(text)
    assert [link.best.concept_id for link in links if link.best is not None] == expected


def test_an_abbreviation_of_several_concepts_is_less_sure() -> None:
    annotator = Annotator(Index.build(meanings(), encoder=None))
    [alone] = annotator.annotate("The girl has ASD.")
    [_, beside] = annotator.annotate("PDA and ASD")
    assert alone.confidence is not None
    assert beside.confidence is not None
    assert alone.confidence < beside.confidence


def test_a_minus_after_a_marker_is_no_hyphen() -> None:
    markers = small_vocabulary(
        {
            "M:1": ["HER2 positive breast cancer", "HER2+ breast cancer"],
            "M:2": ["HER2 negative breast cancer", "HER2- breast cancer"],
            "M:3": ["breast cancer"],
            "M:4": ["T-cell lymphoma"],
        }
    )
    annotator = Annotator(Index.build(markers, encoder=None))
    text = "She had HER2- breast cancer and ER- breast cancer. A T-cell lymphoma, and HER2-negative breast cancer."
    links = annotator.annotate(text)
    found = [(link.mention.text, link.candidates[0].concept_id, link.is_denied) for link in links]
    assert found == [
        ("HER2- breast cancer", "M:2", False),
        ("breast cancer", "M:3", False),
        ("T-cell lymphoma", "M:4", False),
        ("HER2-negative breast cancer", "M:2", False),
    ]


def test_a_roman_one_is_a_numeral_and_no_pronoun() -> None:
    kinds = small_vocabulary({"M:1": ["Type I diabetes"], "M:2": ["Type II diabetes"], "M:3": ["Fever"]})
    annotator = Annotator(Index.build(kinds, encoder=None))
    text = "Type I diabetes runs in our family, and I had fever. Type I and type II diabetes were seen."
    found = [(link.mention.text, link.candidates[0].concept_id) for link in annotator.annotate(text)]
    assert found == [
        ("Type I diabetes", "M:1"),
        ("fever", "M:3"),
        ("Type I and type II diabetes", "M:1"),
        ("type II diabetes", "M:2"),
    ]
