from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.text.abbreviations import Definition, find_definitions
from nymlink.text.expansion import Glossary, expand, expand_text, occurrences

APC = "adenomatous polyposis coli"


def definition(short: str, long: str, at: int = 0) -> Definition:
    return Definition(short, long, at, at + len(short), at + len(short) + 1, at + len(short) + 1 + len(long))


def definitions(**long_forms: str) -> list[Definition]:
    return [definition(short, long) for short, long in long_forms.items()]


@pytest.mark.parametrize(
    ("mention", "published", "full"),
    [
        ("APC", APC, APC),
        ("APC tumour", f"{APC} tumour", f"{APC} tumour"),
        ("APC/FAP, APC", f"{APC}/polyposis, {APC}", f"{APC}/polyposis, {APC}"),
        ("APC-related tumour", "APC-related tumour", f"{APC}-related tumour"),
        ("non-APC tumour", "non-APC tumour", f"non-{APC} tumour"),
        ("APC-2", "APC-2", "APC-2"),
        ("X-APC", "X-APC", "X-APC"),
        ("APC2", "APC2", "APC2"),
        ("apc", "apc", "apc"),
        ("APC+", "APC+", "APC+"),
        ("FAPs", "FAPs", "polyposis"),
        (f"{APC} (APC) tumour", f"{APC} (APC) tumour", f"{APC} tumour"),
        (
            "Adenomatous polyposis  coli [APC; MIM 1]",
            "Adenomatous polyposis  coli [APC; MIM 1]",
            "Adenomatous polyposis  coli",
        ),
        (f"APC ({APC})", f"{APC} ({APC})", APC),
        ("tumour (APC)", "tumour (APC)", f"tumour ({APC})"),
        ("", "", ""),
    ],
)
def test_examples(mention: str, published: str, full: str) -> None:
    known = definitions(APC=APC, FAP="polyposis")
    assert expand(mention, known, tokens_only=True) == published
    assert expand(mention, known) == full


def test_short_forms_of_two_words() -> None:
    known = [definition("MPS IVA", "mucopolysaccharidosis IVA")]
    assert expand("MPS IVA", known) == "mucopolysaccharidosis IVA"
    assert expand("MPS IVA", known, tokens_only=True) == "MPS IVA"


@pytest.mark.parametrize(
    ("short", "long", "mention", "expanded"),
    [
        ("RCC", "renal cell carcinoma", "sporadic RCCs", "sporadic renal cell carcinomas"),
        ("LIDs", "levodopa-induced dyskinesias", "LID", "levodopa-induced dyskinesia"),
        ("LDs", "Learning disabilities", "LD", "Learning disability"),
        ("LD", "learning disability", "LDs", "learning disabilities"),
        ("BMs", "bone metastases", "BM", "bone metastasis"),
        ("SDs", "skin diseases", "SD", "skin disease"),
        ("ARs", "aldose reductases", "AR deficiency", "aldose reductase deficiency"),
        ("MTDs", "maximum tolerated doses", "MTD", "maximum tolerated dose"),
        ("BAs", "brain abscesses", "BA", "brain abscess"),
        # no plural
        ("ABs", "abscess", "AB", "AB"),
        ("LPs", "lupus", "LP", "LP"),
        ("SEs", "sepsis", "SE", "SE"),
        # a single letter is no abbreviation
        ("As", "arsenic", "Hepatitis A", "Hepatitis A"),
        ("Cs", "controls", "Hepatitis C", "Hepatitis C"),
        ("Cs", "controls", "Cs", "controls"),
    ],
)
def test_plural_and_singular_stand_for_each_other(short: str, long: str, mention: str, expanded: str) -> None:
    assert expand(mention, [definition(short, long)]) == expanded


def test_an_element_is_no_letter_of_a_virus() -> None:
    text = "Water with arsenic (As) does not cause Hepatitis A."
    assert expand_text(text, find_definitions(text)).text.endswith("does not cause Hepatitis A.")


def test_short_forms_in_long_forms_are_replaced_once() -> None:
    known = definitions(ALD="adrenoleukodystrophy", CALD="cerebral ALD")
    assert expand("CALD", known) == "cerebral adrenoleukodystrophy"
    assert expand("CALD or CALD", known) == "cerebral adrenoleukodystrophy or cerebral adrenoleukodystrophy"


def test_a_long_chain_of_definitions_comes_to_an_end() -> None:
    chain = {f"A{number}": f"word A{number + 1}" for number in range(5000)}
    assert expand("A0", definitions(**chain)).startswith("word word word")


def test_definitions_in_a_circle_come_to_an_end() -> None:
    assert expand("AB", definitions(AB="CD x", CD="AB y")) == "AB y x"
    assert expand("AB", definitions(AB="AB syndrome")) == "AB syndrome"


def test_of_several_definitions_the_last_counts() -> None:
    assert expand("AB", [definition("AB", "first"), definition("AB", "second")]) == "second"


SHORT = st.sampled_from(["AB", "CD", "EF", "ABs", "A-B"])
LONG = st.lists(st.one_of(SHORT, st.sampled_from(["x", "(", ")", "-", "/", ","])), min_size=1, max_size=6).map(
    " ".join
)
GRAPH = st.lists(st.builds(definition, SHORT, LONG), max_size=8)


@given(LONG, GRAPH, st.booleans())
def test_any_graph_of_definitions_ends(mention: str, graph: list[Definition], tokens_only: bool) -> None:
    result = expand(mention, graph, tokens_only=tokens_only)
    # Each word of the mention brings in each long form once at most (the plural forms count again).
    assert len(result) <= (len(mention.split()) + 1) * (2 * sum(len(one.long) + 1 for one in graph) + 10) + len(
        mention
    )


@given(st.text(max_size=50), st.lists(st.builds(definition, st.text(min_size=1), st.text()), max_size=4))
def test_any_text(mention: str, known: list[Definition]) -> None:
    expand(mention, known)
    assert expand(mention, []) == mention


def test_the_definition_before_a_mention_is_needed() -> None:
    first, second, other = definition("AB", "one", 10), definition("AB", "two", 50), definition("CD", "three", 70)
    glossary = Glossary([first, second, other])
    assert glossary.needed("AB CDs", 0) == (first, other)
    assert glossary.needed("AB", 50) == (first,)
    assert glossary.needed("AB", 51) == (second,)
    assert glossary.needed("CD AB") == (other, second)
    assert glossary.needed("none") == glossary.needed("") == Glossary([]).needed("AB") == ()


def test_definitions_of_long_forms_are_needed_too() -> None:
    outer, inner = definition("AB", "one CD", 10), definition("CD", "two", 50)
    assert Glossary([outer, inner]).needed("AB", 20) == (outer, inner)


@given(st.text("AB -", max_size=12), st.sets(st.text("AB -", min_size=1, max_size=4), max_size=4))
def test_occurrences_are_those_of_an_expression(text: str, forms: set[str]) -> None:
    found = [
        (match.start(), match.start() + len(form))
        for form in forms
        for match in re.finditer(rf"(?<!\w)(?={re.escape(form)}(?!\w))", text)
    ]
    assert list(occurrences(text, forms)) == sorted(found, key=lambda span: (span[0], -span[1]))


@pytest.mark.parametrize(
    ("mention", "expanded"),
    [
        (f"{APC} (APC), APC ({APC}) cancer", f"{APC}, {APC} cancer"),
        (f"cancer ({APC} (APC))", f"cancer ({APC})"),
        (f"{APC}   (APC)", APC),
        (f"APC ({APC} (APC); a) x", f"{APC} x"),
    ],
)
def test_glosses_are_left_out(mention: str, expanded: str) -> None:
    assert expand(mention, definitions(APC=APC)) == expanded


def test_expand_text_maps_offsets() -> None:
    text = "Wilson disease (WD) and WD-like disorders. WD!"
    new = expand_text(text, find_definitions(text))
    assert new.text == "Wilson disease (Wilson disease) and Wilson disease-like disorders. Wilson disease!"
    start = text.rindex("WD")
    new_start, new_end = new.span_to_new(start, start + 2)
    assert new.text[new_start:new_end] == "Wilson disease"
    assert new.text[new.to_new(text.index("like")) :].startswith("like")


def test_expand_text_takes_the_definition_in_force() -> None:
    text = "Wilson disease (WD): WD. Later Whipple disease (WD): WD."
    assert expand_text(text, find_definitions(text)).text.split("WD")[0] == (
        "Wilson disease (Wilson disease): Wilson disease. "
        "Later Whipple disease (Whipple disease): Whipple disease."
    )


@given(
    st.lists(st.sampled_from(["alpha beta", "(AB)", "AB", "ABs", "x", "😀", "AB-like", "."]), max_size=20).map(
        " ".join
    )
)
def test_expand_text_leaves_all_else_as_it_is(text: str) -> None:
    new = expand_text(text, find_definitions(text))
    for offset, char in enumerate(text):
        if char in "x😀":
            assert new.text[new.to_new(offset)] == char
