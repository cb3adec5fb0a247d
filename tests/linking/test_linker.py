"""From mentions to links."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nymlink.core.errors import InputError, StoreError
from nymlink.corpus.documents import Document, Mention
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.text.normalise import normalise
from tests.index.small import vocabulary
from tests.linking.toy import VOCABULARY, built_index, built_linker, ids


def test_a_string_gives_a_link() -> None:
    link = built_linker().link("Breast-Cancer")
    assert (link.mention, link.query, link.parts, link.document_id) == (
        Mention("Breast-Cancer"),
        "breast cancer",
        (),
        None,
    )
    assert link.best is link.candidates[0]
    assert (link.best.concept_id, link.best.concept_name) == ("D:1", "breast cancer")
    assert (link.best.matched.text, link.best.matched.kind) == ("breast cancer", "preferred")
    assert (link.best.score, link.best.parts) == (1, {"exact": 1, "sparse": 1, "writing": 0.6})


def test_a_mention_gives_a_link() -> None:
    mention = Mention("ovarian cancer", type="Disease")
    link = built_linker().link(mention)
    assert link == built_linker().link([mention])[0]
    assert link.mention is mention


def test_a_call_may_ask_for_another_number_of_candidates() -> None:
    linker = Linker(built_index(), top_k=2)
    for top_k in (1, 2, 3, 100):
        assert linker.link("cancer", top_k=top_k) == Linker(built_index(), top_k=top_k).link("cancer")
    assert len(linker.link("cancer").candidates) == 2
    with pytest.raises(InputError, match="top_k is a whole number from 1, not"):
        linker.link("cancer", top_k=0)


def test_a_list_gives_links_in_order() -> None:
    found = built_linker().link(["heart attack", Mention("ovarian cancer", type="Disease"), "heart attack", ""])
    assert [link.best.concept_id if link.best else None for link in found] == ["D:3", "D:2", "D:3", None]
    assert found[1].mention.type == "Disease"
    assert found[0] == found[2]
    assert built_linker().link([]) == []
    assert built_linker().link(()) == []


def test_a_document_gives_a_link_for_each_mention() -> None:
    text = "Heart attack, not ovarian cancer."
    document = Document("7", text, (Mention("Heart attack", 0, 12), Mention("ovarian cancer", 18, 32)))
    found = built_linker().link(document)
    assert [(link.document_id, link.mention, ids(link)[0]) for link in found] == [
        ("7", document.mentions[0], "D:3"),
        ("7", document.mentions[1], "D:2"),
    ]
    assert built_linker().link(Document("8", "Nothing.")) == []


def test_documents_are_linked_a_few_at_a_time_as_they_come() -> None:
    taken = []

    def documents():  # type: ignore[no-untyped-def]
        for number in range(1000):
            taken.append(number)
            yield Document(str(number), mentions=(Mention("heart attack"), Mention("MI")))

    links = built_linker().link_documents(documents())
    assert taken == []
    assert [link.document_id for link in next(links)] == ["0", "0"]
    assert 1 < len(taken) < 500
    assert [one[0].document_id for one in links] == [str(number) for number in range(1, 1000)]


@pytest.mark.parametrize("mentions", [0, 1, 700])
def test_documents_are_linked_together_as_each_is_by_itself(mentions: int) -> None:
    names = ["MI", "heart attack", "breast and ovarian cancer", "no such name"]
    text = "Mitral insufficiency (MI) is not a heart attack."
    documents = [
        Document("1", text, (Mention("MI", 22, 24), Mention("heart attack", 35, 47))),
        Document("2", mentions=tuple(Mention(names[number % 4]) for number in range(mentions))),
        Document("3", "MI.", (Mention("MI", 0, 2),)),
    ]
    linker = Linker(built_index(), composites="always")
    assert list(linker.link_documents(documents)) == [linker.link(document) for document in documents]


@pytest.mark.parametrize(
    ("mention", "language", "parts"),
    [
        ("hepatitis E, hepatitis B", "en", ["hepatitis E", "hepatitis B"]),
        ("hepatitis E, hepatitis B", None, ["hepatitis E", "hepatitis B"]),
        ("hepatitis B y hepatitis", "es", ["hepatitis B", "hepatitis"]),
        ("hepatitis B y hepatitis", "en", []),
    ],
)
def test_conjunctions_of_one_letter_are_of_their_languages(
    mention: str, language: str | None, parts: list[str]
) -> None:
    index = Index.build(
        vocabulary({"H:1": ["hepatitis"], "H:2": ["hepatitis B"], "H:3": ["hepatitis E"]}), encoder=None
    )
    link = Linker(index, composites="always").link(mention, language=language)
    assert [part.mention.text for part in link.parts] == [normalise(part) for part in parts]


def test_a_document_that_cannot_be_had_loses_none_before_it() -> None:
    def documents():  # type: ignore[no-untyped-def]
        yield Document("1", mentions=(Mention("heart attack"),))
        yield Document("2")
        raise InputError("the third")

    links = built_linker().link_documents(documents())
    assert [len(next(links)), len(next(links))] == [1, 0]
    with pytest.raises(InputError, match="the third"):
        next(links)


def test_candidates_are_distinct_concepts_and_no_more_than_asked_for() -> None:
    assert ids(Linker(built_index(), top_k=1).link("cancer")) == ids(built_linker().link("cancer"))[:1]
    for mention in ("cancer", "mi", "myocard", "infarct"):
        found = ids(Linker(built_index(), top_k=50).link(mention))
        assert len(set(found)) == len(found) <= len(VOCABULARY)
    assert len(built_linker().link("mi").candidates) == 4


def test_concepts_that_share_a_name_come_by_kind_then_in_the_vocabularys_order() -> None:
    [link] = Linker(built_index(), top_k=9).link([Mention("mi", prepared=True)])
    found = link.candidates
    assert [(candidate.concept_id, candidate.matched.kind) for candidate in found[:4]] == [
        ("D:5", "exact"),
        ("D:3", "abbreviation"),
        ("D:4", "related"),
        ("D:6", "broad"),
    ]
    # Of the two names of D:6, "M.I." is another entry.
    assert found[3].matched.text == "mi"
    assert {candidate.score for candidate in found[:4]} == {1}
    shared = Index.build(
        vocabulary({"Z:2": ["flu"], "A:1": ["cold", ("flu", "exact")], "Z:1": ["flu"]}), encoder=None
    )
    assert ids(Linker(shared, top_k=3).link("flu")) == ["Z:2", "Z:1", "A:1"]


@pytest.mark.parametrize("sparse", ["nymlink", "biosyn", "le-nguyen", "none"])
def test_parts_explain_the_score(sparse: str) -> None:
    index = Index.build(VOCABULARY, sparse=sparse, encoder=None).with_ranker(None)
    linker = Linker(index, top_k=9)
    for mention in ("mi", "cancer of the breast", "infarct", "infarctus du myocarde"):
        for candidate in linker.link(mention).candidates:
            assert candidate.parts.keys() - {"writing"} == index.search.weights.keys()
            total = sum(weight * candidate.parts[name] for name, weight in index.search.weights.items())
            if candidate.parts.get("writing", 1) < 1:
                assert candidate.score == pytest.approx(0.99 * total, abs=3e-6)
                continue
            assert candidate.score == pytest.approx(total, abs=3e-6)
            assert 0 < candidate.score <= 1


def test_abbreviations_are_read_with_the_documents_own_definitions() -> None:
    assert ids(built_linker().link("MI"))[0] == "D:3"
    for long, expected in (("Mitral insufficiency", "D:4"), ("Mental illness", "D:6")):
        text = f"{long} (MI) was seen. MI is what we call it."
        place = text.index("MI is")
        [link] = built_linker().link(Document("1", text, (Mention("MI", place, place + 2),)))
        assert (link.mention.text, link.query, ids(link)[0]) == ("MI", long.lower(), expected)
    # What one document defines says nothing of the next.
    assert ids(built_linker().link(Document("2", "MI was seen.", (Mention("MI", 0, 2),)))[0])[0] == "D:3"


class TestComposites:
    def test_given_parts_are_linked_one_by_one(self) -> None:
        mention = Mention("breast and ovarian cancer", parts=("breast cancer", "Ovarian cancer"))
        [link] = built_linker().link([mention])
        assert (link.mention, link.query) == (mention, "breast cancer | ovarian cancer")
        assert (link.candidates, link.best) == ((), None)
        assert [ids(part)[0] for part in link.parts] == ["D:1", "D:2"]
        assert [part.query for part in link.parts] == ["breast cancer", "ovarian cancer"]

    def test_a_single_part_is_a_mention_like_any_other(self) -> None:
        [link] = built_linker().link([Mention("xx", parts=("Ovarian cancer",))])
        assert (link.query, link.parts, ids(link)[0]) == ("ovarian cancer", (), "D:2")

    def test_others_are_split_on_request_only(self) -> None:
        mention = "breast and ovarian cancer"
        assert built_linker().link(mention).parts == ()
        link = Linker(built_index(), composites="always").link(mention)
        assert [ids(part)[0] for part in link.parts] == ["D:1", "D:2"]
        assert Linker(built_index(), composites="always").link("breast cancer") == Linker(built_index()).link(
            "breast cancer"
        )

    def test_gold_ids_do_not_tell(self) -> None:
        """Linking must not look at the answer, with one number of ids or another."""
        for composites in ("given", "always"):
            linker = Linker(built_index(), composites=composites)  # type: ignore[arg-type]
            texts = ["breast and ovarian cancer", "heart attack"]
            with_gold = linker.link([Mention(text, concept_ids=("D:1", "D:2")) for text in texts])
            without = linker.link(texts)
            assert [(link.query, link.candidates, link.parts) for link in with_gold] == [
                (link.query, link.candidates, link.parts) for link in without
            ]


@pytest.mark.parametrize(
    ("mention", "expected"),
    [
        ("心筋梗塞", "D:3"),
        ("احتشاء عضل القلب", "D:3"),
        ("HIRSCHSPRUNG’S DISEASE", "D:8"),
        ("ｈｅａｒｔ　ａｔｔａｃｋ", "D:3"),
        ("breast\u00ad cancer\u200b", "D:1"),
        ("infarctus du myocardé", "D:9"),
    ],
)
def test_any_script(mention: str, expected: str) -> None:
    link = built_linker().link(mention)
    assert link.mention.text == mention
    assert ids(link)[0] == expected


@pytest.mark.parametrize(
    "mention", ["", "  ", "\t\n", "🫀", "~", "\ud800", "\0", "ᚠᛇᚻ", "x" * 10_000, "breast " * 3000]
)
def test_anything_can_be_asked(mention: str) -> None:
    link = built_linker().link(mention)
    assert link.mention.text == mention
    assert len(link.candidates) <= 4
    if not mention.strip():
        assert (link.query, link.candidates) == ("", ())


def test_a_link_can_be_written_as_json() -> None:
    [plain, composite] = built_linker().link(["MI", Mention("x", parts=("heart attack", "myotonia"))])
    for link in (plain, composite):
        assert json.loads(json.dumps(link.to_dict())).keys() == {
            "mention",
            "query",
            "confidence",
            "nil",
            "guessed",
            "notes",
            "candidates",
            "parts",
        }
    first = plain.to_dict()["candidates"][0]
    assert first["concept_id"] == "D:3"
    assert first["matched"]["text"] == "MI"
    assert first["parts"] == {"exact": 1.0, "sparse": 1.0, "writing": 1.0}
    assert [part["query"] for part in composite.to_dict()["parts"]] == ["heart attack", "myotonia"]


def test_no_candidates_make_no_sense() -> None:
    with pytest.raises(InputError, match="top_k is a whole number from 1, not 0"):
        Linker(built_index(), top_k=0)


def test_load(tmp_path: Path) -> None:
    built_index().save(tmp_path / "index")
    assert Linker.load(tmp_path / "index", top_k=4).link("cancer of breast") == built_linker().link(
        "cancer of breast"
    )
    with pytest.raises(StoreError):
        Linker.load(tmp_path / "nowhere")


SCRIPT = """
import hashlib, json, sys
from pathlib import Path
from nymlink.annotation.word_rules import EnglishWordRules
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from tests.index.small import many_names, vocabulary
names = many_names(600)
index = Index.build(vocabulary({f"X:{number % 170}": names[number % 170 :: 170] for number in range(170)}))
index.save(sys.argv[1])
for path in sorted(Path(sys.argv[1]).rglob("*")):
    if path.is_file():
        print(path.name, hashlib.sha256(path.read_bytes()).hexdigest())
for link in Linker(index, top_k=9).link([name[1:] for name in names[:100]]):
    print(json.dumps(link.to_dict()))
print(*EnglishWordRules().nouns("trapezial"))
"""


@pytest.mark.large
def test_every_process_gives_the_same_index_and_the_same_links(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    outputs = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT, str(tmp_path / seed)],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(root)},
            capture_output=True,
            check=True,
            encoding="utf-8",
        ).stdout
        for seed in ("0", "1")
    ]
    assert len(outputs[0].splitlines()) > 110
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize(
    ("mention", "query"),
    [
        ("breast cancers", "breast cancer"),
        ("heart attacks", "heart attack"),
        ("liver tumours", "liver tumour"),
        # What is no name in any form stays as it is.
        ("lung cancers", "lung cancers"),
    ],
)
def test_another_regular_form_of_a_name_is_that_name(mention: str, query: str) -> None:
    (link,) = built_linker().link([Mention(mention)])
    assert link.query == query
    assert link.mention.text == mention


def test_a_prepared_mention_is_asked_for_in_other_forms_too() -> None:
    (link,) = built_linker().link([Mention("breast cancers", prepared=True)])
    assert link.query == "breast cancer"


def test_what_is_no_name_is_asked_for_in_other_words() -> None:
    linker = Linker(
        Index.build(vocabulary({"D:1": ["kidney disease"], "D:2": ["AID"], "D:3": ["hemorrhage"]}), encoder=None)
    )
    asked = ["nephrotoxic", "renal dysfunction", "Haemorrhagic", "AIDS", "aids"]
    found = [link.query for link in linker.link(asked)]
    assert found == ["kidney disease", "kidney disease", "hemorrhage", "aids", "aid"]


def test_right_words_are_not_taken_for_british_ones() -> None:
    linker = Linker(Index.build(vocabulary({"D:1": ["thromboembolism"], "D:2": ["hematoma"]}), encoder=None))
    assert [link.query for link in linker.link(["thromboembolic", "haematomatous"])] == [
        "thromboembolism",
        "hematoma",
    ]


def test_what_is_written_out_is_asked_for_in_other_forms_and_words() -> None:
    linker = Linker(Index.build(vocabulary({"D:1": ["liver failure"], "D:2": ["hip fractures"]}), encoder=None))
    for text, query in (
        ("Patients with hepatic failure (HF); HF was severe.", "liver failure"),
        ("Patients with hip fracture (HF); HF was severe.", "hip fractures"),
        ("HF was severe.", "hf"),
    ):
        start = text.rindex("HF")
        (link,) = linker.link(Document("1", text, (Mention("HF", start, start + 2),)))
        assert link.query == query


def test_composites_are_given_or_always_split() -> None:
    with pytest.raises(ValueError, match='composites must be "given" or "always", not \'gold\''):
        Linker(built_linker().index, composites="gold")


def test_a_mention_has_the_rules_of_its_own_language() -> None:
    link_texts = ["heart attacks"] * 3
    languages = ["en", "ja", None]
    mentions = [Mention(text, language=code) for text, code in zip(link_texts, languages, strict=True)]

    def queries(language: str | None) -> list[str]:
        return [link.query for link in built_linker().link(mentions, language=language)]

    assert queries("ja") == ["heart attack", "heart attacks", "heart attacks"]
    assert queries("en") == queries(None) == ["heart attack", "heart attacks", "heart attack"]
    assert (
        built_linker().link([Mention("heart attacks", language="und")], language="ja")[0].query == "heart attack"
    )
