from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nymlink.corpus.documents import Document, Mention
from nymlink.text.abbreviations import find_definitions
from nymlink.text.normalise import normalise
from nymlink.text.prepare import prepare, prepare_document

TEXT = "Myotonic dystrophy (DM) and Wilson disease (WD). WD-like tumours of breast and ovarian cancer in DM."


def mention(surface: str, *ids: str, nth: int = 0) -> Mention:
    start = -1
    for _ in range(nth + 1):
        start = TEXT.index(surface, start + 1)
    return Mention(surface, start, start + len(surface), concept_ids=ids)


def test_prepare() -> None:
    known = find_definitions(TEXT)
    assert prepare("WD Tumour", definitions=known) == "wilson disease tumor"
    assert prepare("WD Tumour", definitions=known, spelling={}) == "wilson disease tumour"
    assert prepare("WD-like", definitions=known) == "wilson disease like"
    assert prepare("WD-like", definitions=known, as_published=True) == "wd like"
    assert prepare("+++") == "+++"
    assert prepare(" ") == ""


def test_a_document_lends_its_definitions() -> None:
    document = Document("1", TEXT, (mention("DM", nth=1), mention("WD", nth=1)))
    assert prepare_document(document) == (("myotonic dystrophy",), ("wilson disease",))
    assert prepare_document(document, as_published=True) == (("dm",), ("wilson disease",))


def test_definitions_of_other_patterns_are_lent_unless_as_published() -> None:
    text = "Leaky vessels (blood-brain barrier, BBB) let BBB disruption show. Testosterone (T) and T cells, or T."
    places = [text.index("BBB disruption"), text.index("T cells"), len(text) - 2]
    mentions = [
        Mention(surface, start, start + len(surface))
        for surface, start in zip(("BBB disruption", "T cells", "T"), places, strict=True)
    ]
    document = Document("1", text, tuple(mentions))
    assert prepare_document(document) == (("blood brain barrier disruption",), ("t cells",), ("testosterone",))
    assert prepare_document(document, as_published=True) == (("bbb disruption",), ("t cells",), ("t",))


def test_a_mention_alone() -> None:
    document = Document("1", mentions=(Mention("Tumours, DM"),))
    assert prepare_document(document) == (("tumors dm",),)
    assert prepare_document(Document("1")) == ()


def test_which_composites_are_split() -> None:
    one, two, three = ("a",), ("a", "b"), ("a", "b", "c")
    document = Document("1", TEXT, tuple(mention("breast and ovarian cancer", *ids) for ids in (one, two, three)))
    whole, split = ("breast and ovarian cancer",), ("breast cancer", "ovarian cancer")
    assert prepare_document(document) == (whole, whole, whole)
    assert prepare_document(document, composites="gold") == (whole, split, whole)
    assert prepare_document(document, composites="always") == (split, split, split)


def test_given_parts_are_used_and_expanded() -> None:
    document = Document("1", TEXT, (Mention("WD and DM tumours", 0, 5, parts=("WD tumours", "DM tumours")),))
    assert prepare_document(document) == (("wilson disease tumors", "myotonic dystrophy tumors"),)


def test_prepared_mentions_pass_through() -> None:
    document = Document(
        "1", TEXT, (Mention("WD Tumour", prepared=True), Mention("x", parts=("WD", "Y"), prepared=True))
    )
    assert prepare_document(document) == (("WD Tumour",), ("WD", "Y"))


def test_the_definition_in_force_counts() -> None:
    text = "Wilson disease (WD) or WD. Whipple disease (WD) or WD."
    places = [offset for offset in range(len(text)) if text.startswith("WD", offset)]
    document = Document("1", text, tuple(Mention("WD", place, place + 2) for place in places))
    assert [parts[0].split()[0] for parts in prepare_document(document)] == [
        "wilson",
        "wilson",
        "whipple",
        "whipple",
    ]


@given(
    st.text(max_size=80), st.lists(st.text(max_size=30), max_size=4), st.sampled_from(["given", "gold", "always"])
)
def test_every_mention_gets_queries(text: str, surfaces: list[str], composites: str) -> None:
    document = Document("1", text, tuple(Mention(surface, 0, 1, concept_ids=("a", "b")) for surface in surfaces))
    prepared = prepare_document(document, composites=composites)  # type: ignore[arg-type]
    assert len(prepared) == len(surfaces)
    for surface, queries in zip(surfaces, prepared, strict=True):
        assert queries
        assert all(query == normalise(query) for query in queries)
        assert all(query for query in queries) or not surface.strip()
