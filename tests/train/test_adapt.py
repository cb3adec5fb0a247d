"""Adapting an index to annotated mentions."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from nymlink.cli import nymlink
from nymlink.core.errors import InputError, StoreError
from nymlink.corpus.documents import Corpus, Document, Mention
from nymlink.evaluation.evaluation import evaluate
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.rank.uses import Uses
from nymlink.train.adapt import adapt
from tests.index.small import vocabulary

WORDS = "alpha beta gamma delta epsilon zeta eta theta iota kappa".split()
VOCABULARY = vocabulary(
    {f"D:{number}": [f"{word} disease", f"{word} syndrome"] for number, word in enumerate(WORDS)}
    | {"D:90": ["cold"], "D:91": ["chronic lung trouble"]}
)
SAID = {f"{word} of clerks": f"D:{number}" for number, word in enumerate(reversed(WORDS))} | {"cold": "D:91"}
"""Words for concepts: each is like the name of another concept, and "cold" is one."""


def corpus(said: dict[str, str], *, documents: int = 40) -> Corpus:
    texts = list(said)
    drawn = [
        [texts[number % len(texts)], texts[(3 * number + 1) % len(texts)], "cold"] for number in range(documents)
    ]
    return Corpus(
        "letters",
        tuple(
            Document(f"d{number}", mentions=tuple(Mention(text, concept_ids=(said[text],)) for text in own))
            for number, own in enumerate(drawn)
        ),
    )


@pytest.fixture(scope="module")
def index() -> Index:
    return Index.build(VOCABULARY, encoder=None).with_ranker(None)


def test_mentions_become_names_and_common_meanings_come_first(index: Index, tmp_path: Path) -> None:
    letters = corpus(SAID)
    before = evaluate(index, letters).to_dict()["concept_acc@1"]
    adaptation = adapt(index, [letters])
    [names] = adaptation.steps
    assert names.taken
    assert names.first[0] == pytest.approx(before)
    assert names.first[1] > 0.9
    adapted = adaptation.apply(index)
    assert evaluate(adapted, letters).to_dict()["concept_acc@1"] == 1
    adapted.save(tmp_path / "adapted")
    loaded = Index.load(tmp_path / "adapted")
    for opened in (adapted, loaded, pickle.loads(pickle.dumps(loaded))):
        linker = Linker(opened)
        assert [linker.link(text).best.concept_id for text in SAID] == list(SAID.values())  # type: ignore[union-attr]
        assert linker.link("cold").candidates[0].matched.source == "adapted"
    assert {each.concept_id for each in Linker(loaded, top_k=2).link("COLD").candidates} == {"D:90", "D:91"}


def test_names_that_mean_many_concepts_are_not_learned(index: Index) -> None:
    letters = corpus(SAID)
    torn = Corpus(
        "torn",
        letters.documents
        + tuple(
            Document(f"t{number}", mentions=(Mention("alpha of clerks", concept_ids=(f"D:{number % 8}",)),))
            for number in range(80)
        ),
    )
    adaptation = adapt(index, [torn])
    assert "alpha of clerks" not in [name.text for name in adaptation.names]
    assert "beta of clerks" in [name.text for name in adaptation.names]


def test_known_names_are_not_added(index: Index) -> None:
    known = {f"{word} disease": f"D:{number}" for number, word in enumerate(WORDS)} | {"cold": "D:90"}
    adaptation = adapt(index, [corpus(known)])
    assert adaptation.steps[0].first == (1, 1)
    assert not adaptation.names
    adapted = adaptation.apply(index)
    assert adapted.entries.texts.equals(index.entries.texts)


def test_too_few_mentions_are_refused(index: Index) -> None:
    with pytest.raises(InputError, match="30 mentions with a gold id of the index are too few"):
        adapt(index, [corpus(SAID, documents=10)])
    with pytest.raises(InputError, match="0 mentions"):
        adapt(index, [Corpus("nothing", ())])


def test_the_share_of_a_meaning_is_smoothed() -> None:
    uses = Uses(
        {
            "cold": {"D:90": {"a": 1}, "D:91": {"a": 1, "b": 2}},
            "mi": {"D:1": {"a": 1}, "D:2": {"b": 1}},
            "once": {"D:3": {"a": 1}},
        }
    )
    assert uses.first("cold") == ("D:91", 4 / 6)
    assert uses.first("mi") is None
    assert uses.first("once") == ("D:3", 2 / 3)
    assert uses.first("never") is None


def test_damaged_counts_are_named(index: Index) -> None:
    with pytest.raises(StoreError, match="build the index again"):
        Linker(index.with_uses({"cold": 3}))


def test_the_command_writes_an_index_and_a_report(index: Index, tmp_path: Path) -> None:
    index.save(tmp_path / "index")
    rows = ["mention\tconcept_id"]
    rows += [f"{mention.text}\t{mention.concept_ids[0]}" for _, mention in corpus(SAID).mentions()]
    (tmp_path / "decided.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    arguments = ["adapt", str(tmp_path / "index"), "--corpus", str(tmp_path / "decided.tsv"), "-o"]
    shown = CliRunner().invoke(nymlink, [*arguments, str(tmp_path / "adapted")])
    assert shown.exit_code == 0, shown.output
    assert "with names" in shown.output
    assert f"{len(SAID)} new names" in shown.output
    twice = CliRunner().invoke(nymlink, [*arguments, str(tmp_path / "adapted"), "--json"])
    assert json.loads(twice.stdout)["mentions"] == 120
    inside = CliRunner().invoke(nymlink, [*arguments, str(tmp_path / "index")])
    assert inside.exit_code != 0


def test_an_adapted_index_is_adapted_again_and_again(index: Index) -> None:
    half = dict(list(SAID.items())[:5]) | {"cold": "D:91"}
    adapted = index
    for name, said in (("a", half), ("b", SAID), ("c", SAID)):
        adapted = adapt(adapted, [replace(corpus(said), name=name)]).apply(adapted)
    linker = Linker(adapted)
    assert [linker.link(text).best.concept_id for text in SAID] == list(SAID.values())  # type: ignore[union-attr]
    assert [source.name for source in adapted.vocabulary.sources[1:]] == ["adapted", "adapted-2", "adapted-3"]
    with pytest.warns(UserWarning, match="learned from c before: .* adapt the original index"):
        adapt(adapted, [replace(corpus(SAID), name="c")])


def test_a_text_that_a_rule_takes_for_another_name_is_learned_as_written() -> None:
    known = vocabulary(
        {"D:1": ["hyperlipidemia"], "D:2": ["hearing impairment"], "D:3": ["insulin"], "D:4": ["knee"]}
        | {f"D:{number}": [f"{word} disease"] for number, word in enumerate(WORDS, 10)}
    )
    plain = Index.build(known, encoder=None).with_ranker(None)
    said = {"HL": "D:2", "kinee": "D:10", "heart of stone": "D:11"}
    before = [Linker(plain).link(text).query for text in said]
    assert before[0] == "hyperlipidemia"
    adaptation = adapt(plain, [corpus(said | {"cold": "D:12"})], language="en")
    learned = {name.text: (name.concept_id, name.lang) for name in adaptation.names}
    assert learned == {text: (concept, "en") for text, concept in (said | {"cold": "D:12"}).items()}
    linker = Linker(adaptation.apply(plain))
    found = [linker.link(text).best for text in (*said, "hyperlipidemia", "knee")]
    assert [best.concept_id for best in found if best] == ["D:2", "D:10", "D:11", "D:1", "D:4"]


def test_parts_of_mentions_whose_concepts_the_index_lacks_teach_nothing(index: Index) -> None:
    said = corpus(SAID)
    composite = Mention("alpha and lambda disease", concept_ids=("D:0", "D:77"))
    documents = tuple(replace(each, mentions=(*each.mentions, composite)) for each in said.documents)
    adaptation = adapt(index, [replace(said, documents=documents)])
    assert adaptation.mentions == len([*said.mentions()])
    assert not [name.text for name in adaptation.names if "lambda" in name.text]


def test_few_texts_in_one_document_are_enough(index: Index) -> None:
    mentions = tuple(Mention(text, concept_ids=(SAID[text],)) for text in list(SAID)[:3]) * 40
    adaptation = adapt(index, [Corpus("one", (Document("1", mentions=mentions),))])
    assert adaptation.mentions == 120


def test_people_decide_between_equal_names() -> None:
    known = vocabulary(
        {"D:1": ["chill", "xyz"], "D:2": ["fever", "xyz"]} | {f"D:{n}": [word] for n, word in enumerate(WORDS, 10)}
    )
    plain = Index.build(known, encoder=None)
    letters = Corpus(
        "letters", tuple(Document(str(n), mentions=(Mention("xyz", concept_ids=("D:2",)),)) for n in range(120))
    )
    assert Linker(plain).link("xyz").confidence == 0.5
    link = Linker(adapt(plain, [letters]).apply(plain)).link("xyz")
    assert link.best is not None
    assert link.best.concept_id == "D:2"
    assert link.confidence is not None
    assert link.confidence > 0.7


@pytest.mark.parametrize(
    ("types", "said"),
    [
        (["Diseases"], "no mention has the type Diseases; there are: Disease"),
        (None, "have a gold id, such as X:1"),
    ],
)
def test_it_says_why_mentions_are_too_few(index: Index, types: list[str] | None, said: str) -> None:
    letters = Corpus(
        "letters", (Document("1", mentions=(Mention("alpha", type="Disease", concept_ids=("X:1",)),)),)
    )
    with pytest.raises(InputError, match=said):
        adapt(index, [letters], types=types)
