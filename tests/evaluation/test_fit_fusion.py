"""Fitted weights: their figures are those of an evaluation, and no others of the grid are better."""

from __future__ import annotations

from itertools import product

import pytest

from nymlink.core.errors import InputError, UnknownNameError
from nymlink.corpus.documents import Corpus, Document, Mention
from nymlink.evaluation import fit_fusion as module
from nymlink.evaluation.evaluation import evaluate
from nymlink.evaluation.fit_fusion import fit_fusion
from nymlink.index.fusion import Fusion
from nymlink.index.index import Index
from tests.index.small import many_names, vocabulary

NAMES = many_names(80, seed=3)
VOCABULARY = vocabulary({f"X:{number}": NAMES[4 * number : 4 * number + 4] for number in range(20)})
# Misspelt, shortened and turned round; composites; and gold that is unknown.
MENTIONS = [
    *(Mention(name[: len(name) // 2 + 2], concept_ids=(f"X:{at // 4}",)) for at, name in enumerate(NAMES[::3])),
    *(Mention(" ".join(name.split()[::-1]), concept_ids=(f"X:{at // 4}",)) for at, name in enumerate(NAMES[::2])),
    Mention("a and b", concept_ids=("X:1", "X:2"), parts=(NAMES[4][1:], NAMES[8][1:])),
    Mention("something", concept_ids=("X:999",)),
    Mention("nothing"),
]
CORPUS = Corpus("dev", (Document("1", mentions=tuple(MENTIONS)),))


@pytest.fixture(scope="module")
def index() -> Index:
    return Index.build(VOCABULARY, sparse="le-nguyen", encoder=None)


@pytest.mark.parametrize("method", ["weighted", "reciprocal-rank"])
def test_no_other_weights_of_the_grid_are_better(
    index: Index, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "STEPS", 4)
    found = fit_fusion(index, CORPUS, method=method)
    assert found.mentions == len(MENTIONS) - 1
    parts = list(index.search.parts)
    best = (0.0, 0.0)
    for counts in product(range(5), repeat=3):
        if sum(counts) != 4:
            continue
        fusion = Fusion.of(parts, method, dict(zip(parts, counts, strict=True)))
        figures = evaluate(index.with_fusion(fusion), CORPUS).figures
        best = max(best, (figures["acc@1"], figures["acc@5"]))
    before = evaluate(index.with_fusion(found.before.fusion), CORPUS).figures
    assert found.before.fusion == Fusion.of(parts, method)
    assert (found.before.acc_1, found.before.acc_5) == (before["acc@1"], before["acc@5"])
    assert (found.after.acc_1, found.after.acc_5) == max(best, (before["acc@1"], before["acc@5"]))
    after = evaluate(index.with_fusion(found.after.fusion), CORPUS).figures
    assert (found.after.acc_1, found.after.acc_5) == (after["acc@1"], after["acc@5"])
    assert found.tried == 16


def test_weights_stay_where_none_are_better(index: Index) -> None:
    easy = Corpus("dev", (Document("1", mentions=(Mention(NAMES[0], concept_ids=("X:0",)),)),))
    found = fit_fusion(index, easy)
    assert found.before == found.after
    assert found.after.fusion == index.fusion
    assert found.after.acc_1 == 1


@pytest.mark.parametrize(("language", "right"), [(None, 1), ("en", 1), ("ja", 0)])
def test_mentions_are_read_in_their_language(language: str | None, right: float) -> None:
    index = Index.build(vocabulary({"X:1": ["liver failure"], "X:2": ["hepatic fissure"]}), encoder=None)
    corpus = Corpus("dev", (Document("1", mentions=(Mention("hepatic failure", concept_ids=("X:1",)),)),))
    assert fit_fusion(index, corpus, language=language).before.acc_1 == right


def test_a_corpus_that_says_nothing_is_refused(index: Index) -> None:
    with pytest.raises(InputError, match="no mention of the corpus has a gold id"):
        fit_fusion(index, Corpus("dev", (Document("1", mentions=(Mention("x"),)),)))
    with pytest.raises(UnknownNameError, match="unknown fusion"):
        fit_fusion(index, CORPUS, method="best")
