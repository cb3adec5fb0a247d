from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from nymlink.core.errors import InputError, MissingExtraError, OutputError
from nymlink.core.store.arrays import Vectors
from nymlink.plot.figure import save_figure
from nymlink.plot.sample import NameSample
from nymlink.plot.space import draw_space, flatten, synonyms_nearest, turned

CONCEPTS = (*(f"concept number {number}" for number in range(9)), "a name that is much too long to be written")


@pytest.fixture(scope="module")
def sample() -> NameSample:
    labels = np.repeat(np.arange(10, dtype=np.int32), 6)
    return NameSample(tuple(f"name {row}" for row in range(60)), labels, CONCEPTS)


def vectors(sample: NameSample, spread: float) -> Vectors:
    """Vectors of names that lie about those of their concepts."""
    random = np.random.default_rng(0)
    centres = random.normal(size=(10, 16))[sample.labels]
    return (centres + spread * random.normal(size=centres.shape)).astype(np.float32)


@pytest.fixture(scope="module")
def figure(sample: NameSample) -> Figure:
    return draw_space(sample, {"before": vectors(sample, 3), "after": vectors(sample, 0.2)})


def test_every_view_has_a_map_with_its_number(figure: Figure, sample: NameSample) -> None:
    assert figure.get_suptitle() == "60 names of 10 concepts, each of one colour and shape"
    before, after = figure.axes
    share = 100 * synonyms_nearest(vectors(sample, 3), sample.labels)
    assert before.get_title() == f"before\nnearest other name is a synonym: {share:.0f} % of names"
    assert after.get_title() == "after\nnearest other name is a synonym: 100 % of names"
    for axes in figure.axes:
        assert sum(len(drawn.get_offsets()) for drawn in axes.collections) == 60
        looks = {(str(drawn.get_facecolor()), str(drawn.get_paths()[0].vertices)) for drawn in axes.collections}
        assert len(looks) == 10


def test_every_concept_is_written_once_a_map_and_readable(figure: Figure) -> None:
    for axes in figure.axes:
        assert [text.get_text() for text in axes.texts] == [*CONCEPTS[:9], "a name that is much too long to…"]
        boxes = [text.get_window_extent() for text in axes.texts]
        inside = axes.get_window_extent()
        hidden = 0.0
        for number, box in enumerate(boxes):
            assert inside.x0 <= box.x0 < box.x1 <= inside.x1
            assert inside.y0 <= box.y0 < box.y1 <= inside.y1
            for other in boxes[:number]:
                both = type(box).intersection(box, other)
                hidden += 0 if both is None else both.width * both.height
        assert hidden < 0.02 * sum(box.width * box.height for box in boxes)


@pytest.mark.parametrize(
    ("ending", "start"), [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml"), ("PNG", b"\x89PNG")]
)
def test_the_ending_of_the_file_says_its_format(figure: Figure, tmp_path: Path, ending: str, start: bytes) -> None:
    save_figure(figure, tmp_path / f"space.{ending}")
    assert (tmp_path / f"space.{ending}").read_bytes().startswith(start)


def test_unknown_endings_are_refused(figure: Figure, tmp_path: Path) -> None:
    for name in ("space.docx", "space"):
        with pytest.raises(OutputError, match=r"the name of a picture must end in \.pdf, \.png or \.svg"):
            save_figure(figure, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_the_map_is_the_same_each_time_and_keeps_neighbours(sample: NameSample) -> None:
    found = flatten(vectors(sample, 0.2))
    assert found.shape == (60, 2)
    assert np.array_equal(found, flatten(4 * vectors(sample, 0.2)))
    apart = np.linalg.norm(found[:, None] - found, axis=2) + 1e9 * np.eye(60)
    assert (sample.labels[apart.argmin(1)] == sample.labels).all()
    assert flatten(vectors(sample, 1)[:4]).shape == (4, 2)


def test_maps_are_turned_to_one_another() -> None:
    points = np.random.default_rng(0).normal(size=(20, 2))
    mirrored = points @ np.array([[0.6, 0.8], [0.8, -0.6]])
    np.testing.assert_allclose(turned(mirrored, like=points), points)


def test_share_of_nearest_synonyms_is_what_a_loop_counts(sample: NameSample) -> None:
    points = vectors(sample, 2)
    right = 0
    for row, point in enumerate(points):
        cosines = [
            -2 if other == row else point @ points[other] / np.linalg.norm(points[other]) for other in range(60)
        ]
        right += sample.labels[int(np.argmax(cosines))] == sample.labels[row]
    assert 0 < right < 60
    assert synonyms_nearest(points, sample.labels) == pytest.approx(right / 60)


def test_of_names_that_are_equally_near_a_share_counts() -> None:
    labels = np.repeat(np.arange(4, dtype=np.int32), 3)
    # Two of the eleven others are synonyms, whatever comes first.
    alike = np.ones((12, 16), np.float32)
    assert synonyms_nearest(alike, labels) == pytest.approx(2 / 11)
    noise = np.random.default_rng(0).normal(size=alike.shape)
    assert synonyms_nearest((alike + 1e-8 * noise).astype(np.float32), labels) == pytest.approx(2 / 11)


@pytest.mark.parametrize("noise", [0, 1e-7])
def test_rounding_is_not_drawn(sample: NameSample, noise: float) -> None:
    random = np.random.default_rng(0)
    alike = (random.normal(size=16) + noise * random.normal(size=(60, 16))).astype(np.float32)
    with pytest.raises(InputError, match="flat: the encoder does not tell these names apart"):
        draw_space(sample, {"after": vectors(sample, 0.2), "flat": alike})


def test_dollar_signs_are_no_formulas(sample: NameSample, tmp_path: Path) -> None:
    odd = NameSample(sample.texts, sample.labels, (r"$\frac$", *sample.concepts[1:]))
    figure = draw_space(odd, {r"$\before$": vectors(sample, 1)})
    save_figure(figure, tmp_path / "space.svg")
    assert figure.axes[0].texts[0].get_text() == r"$\frac$"
    assert r"$\before$" in (tmp_path / "space.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("module", ["matplotlib.figure", "sklearn.manifold"])
def test_a_missing_extra_says_how_to_get_it(
    sample: NameSample, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'nymlink\[plot\]'"):
        draw_space(sample, {"before": vectors(sample, 1)})
