"""Adapting an index to annotated mentions."""

from __future__ import annotations

import json
import pickle
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


def test_an_adapted_index_is_adapted_again(index: Index) -> None:
    half = dict(list(SAID.items())[:5]) | {"cold": "D:91"}
    once = adapt(index, [corpus(half)]).apply(index)
    twice = adapt(once, [corpus(SAID)]).apply(once)
    linker = Linker(twice)
    assert [linker.link(text).best.concept_id for text in SAID] == list(SAID.values())  # type: ignore[union-attr]
