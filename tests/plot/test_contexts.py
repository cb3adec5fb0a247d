from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_rgba

from nymlink.core.errors import InputError, MissingExtraError
from nymlink.core.store.arrays import Vectors
from nymlink.corpus.documents import Corpus, Document, Mention
from nymlink.plot.figure import COLOURS, save_figure
from nymlink.plot.mentions import ContextSample, draw_contexts, meant_nearest, sample_contexts, scaled
from nymlink.rerank.passages import Passage
from tests.train.small import vocabulary

CONCEPTS = 4
WORDS = "fever", "seizure", "attack", "stature"


def corpus(documents: int) -> Corpus:
    """In each document two mentions of each of the first three concepts; in the first one of the fourth, too."""
    text = "A fever, a seizure, an attack. Fever, seizure, attack: small stature."
    made = []
    for number in range(documents):
        said = [
            (word, text.lower().index(word) if first else text.lower().rindex(word), at)
            for at, word in enumerate(WORDS[:3])
            for first in (True, False)
        ]
        mentions = [
            Mention(text[at : at + len(word)], at, at + len(word), "", (f"X:{own}",)) for word, at, own in said
        ]
        if not number:
            at = text.index("stature")
            mentions += [
                Mention("stature", at, at + 7, "", ("X:3",)),
                Mention("stature", at, at + 7, "", ("X:3", "X:0")),
                Mention("stature", concept_ids=("X:3",)),
                Mention("stature", at, at + 7, "", ("Y:1",)),
            ]
        made.append(Document(str(number), text, tuple(mentions)))
    return Corpus("toy", tuple(made))


@pytest.fixture(scope="module")
def sample() -> ContextSample:
    labels = np.repeat(np.arange(CONCEPTS, dtype=np.int32), [5, 3, 4, 2])
    return ContextSample(
        tuple(Passage("a ", f"mention {row}", "") for row in range(len(labels))), labels, (0, 1, 2, 3), WORDS
    )


def vectors(sample: ContextSample, spread: float) -> tuple[Vectors, Vectors]:
    """Vectors of mentions that lie about those of their concepts, and these."""
    random = np.random.default_rng(0)
    centres = random.normal(size=(CONCEPTS, 16))
    mentions = centres[sample.labels] + spread * random.normal(size=(len(sample.labels), 16))
    return mentions.astype(np.float32), centres.astype(np.float32)


def test_mentions_are_those_of_concepts_that_have_enough() -> None:
    known = vocabulary(*((f"X:{at}", word, "en", "exact") for at, word in enumerate(WORDS)))
    found = sample_contexts(known, corpus(3), concepts=2, mentions=4, seed=1)
    assert (len(found.passages), found.labels.tolist()) == (8, [0] * 4 + [1] * 4)
    assert [one.mention for one in found.passages] == [found.names[label] for label in found.labels]
    assert found.names == tuple(WORDS[row] for row in found.concepts)
    drawn = {sample_contexts(known, corpus(3), concepts=2, mentions=4, seed=seed).concepts for seed in range(20)}
    assert drawn == {(0, 1), (0, 2), (1, 2)}
    again = sample_contexts(known, corpus(3), concepts=2, mentions=4, seed=1)
    assert (again.passages, again.concepts) == (found.passages, found.concepts)
    assert len(sample_contexts(known, corpus(1), concepts=3, mentions=9).passages) == 6
    with pytest.raises(InputError, match="only 3 concepts of the vocabulary have two or more mentions"):
        sample_contexts(known, corpus(3), concepts=4, mentions=4)


def test_every_re_ranker_has_a_map_with_its_number(sample: ContextSample, tmp_path: Path) -> None:
    views = {"before": vectors(sample, 3), "after": vectors(sample, 0.1)}
    figure = draw_contexts(sample, views)
    assert figure.get_suptitle() == "14 mentions (dots) of 4 concepts (stars), each of one colour"
    before, after = figure.axes
    share = 100 * meant_nearest(*views["before"], sample.labels)
    assert before.get_title() == f"before\nnearest of these concepts is meant: {share:.0f} % of mentions"
    assert after.get_title() == "after\nnearest of these concepts is meant: 100 % of mentions"
    for axes in figure.axes:
        dots, stars = axes.collections[::2], axes.collections[1::2]
        assert [len(one.get_offsets()) for one in dots] == [5, 3, 4, 2]
        assert [len(one.get_offsets()) for one in stars] == [1] * CONCEPTS
        for colour, *pair in zip(COLOURS, dots, stars, strict=False):
            assert [one.get_facecolor()[0].tolist() for one in pair] == [list(to_rgba(colour))] * 2
    assert [text.get_text() for text in figure.legends[0].get_texts()] == list(WORDS)
    # Mentions that are near their concept are near it on the map.
    assert all(
        np.linalg.norm(dot.get_offsets() - star.get_offsets(), axis=1).max() < 1
        for dot, star in zip(after.collections[::2], after.collections[1::2], strict=True)
    )
    save_figure(figure, tmp_path / "contexts.svg")
    assert b"before" in (tmp_path / "contexts.svg").read_bytes()


def test_names_are_written_as_they_are_and_fit_the_picture(sample: ContextSample, tmp_path: Path) -> None:
    names = (r"$\frac$", "a name that is much too long to be written below a map " * 5, *WORDS[2:])
    odd = ContextSample(sample.passages, sample.labels, sample.concepts, names)
    figure = draw_contexts(odd, {r"$\before$": vectors(sample, 1)})
    save_figure(figure, tmp_path / "contexts.svg")
    assert r"$\frac$" in (tmp_path / "contexts.svg").read_text(encoding="utf-8")
    assert (
        figure.legends[0].get_texts()[1].get_text()
        == "a name that is much too long to be written below a map a na…"
    )
    box = figure.legends[0].get_window_extent()
    assert 0 < box.x0 < box.x1 < figure.bbox.x1


def test_distances_that_fit_into_a_plane_are_kept() -> None:
    random = np.random.default_rng(0)
    flat = random.normal(size=(12, 2))
    turn = np.linalg.qr(random.normal(size=(16, 16)))[0][:2]
    points = (flat @ turn + 5).astype(np.float32)
    found = scaled(points)
    for one in range(12):
        for other in range(12):
            away = np.linalg.norm(flat[one] - flat[other])
            assert np.linalg.norm(found[one] - found[other]) == pytest.approx(away, abs=1e-3)
    assert np.array_equal(found, scaled(points))


def test_the_share_that_is_meant_is_what_a_loop_counts(sample: ContextSample) -> None:
    mentions, concepts = vectors(sample, 2)
    right = 0
    for vector, label in zip(mentions, sample.labels.tolist(), strict=True):
        away = [float(np.sqrt(((vector - concept) ** 2).sum())) for concept in concepts]
        right += away.index(min(away)) == label
    assert 0 < right < len(mentions)
    assert meant_nearest(mentions, concepts, sample.labels) == pytest.approx(right / len(mentions))


@pytest.mark.parametrize("module", ["matplotlib.figure", "sklearn.manifold"])
def test_a_missing_extra_says_how_to_get_it(
    sample: ContextSample, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'nymlink\[plot\]'"):
        draw_contexts(sample, {"before": vectors(sample, 1)})
