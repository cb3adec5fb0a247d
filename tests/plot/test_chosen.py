from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from nymlink.core.errors import InputError, UnknownNameError
from nymlink.core.store.arrays import Vectors
from nymlink.plot import figure as fonts
from nymlink.plot.sample import NameSample, sample_chosen, sample_names
from nymlink.plot.space import draw_space
from tests.index.small import vocabulary
from tests.plot.multilingual import multilingual

VOCABULARY = multilingual()


def vectors(sample: NameSample) -> Vectors:
    """Vectors of names that lie about those of their concepts."""
    random = np.random.default_rng(0)
    centres = random.normal(size=(len(sample.concepts), 16))[sample.labels]
    return (centres + 0.3 * random.normal(size=centres.shape)).astype(np.float32)


def written(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_a_chosen_concept_has_a_name_in_every_language() -> None:
    sample = sample_chosen(VOCABULARY, ["T:1"], concepts=5, names=2, seed=1)
    assert sample.texts[:3] == ("b anfall", "b attack", "癫痫1")
    assert sample.languages == ("de-AT", "en, nl", "zh")
    assert (sample.chosen, len(sample.concepts), sample.concepts[0]) == (1, 5, "b Attack")
    assert sample.labels.tolist() == [0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert "b Attack" not in sample.concepts[1:]


def test_more_names_than_languages() -> None:
    sample = sample_chosen(VOCABULARY, ["T:1", "T:3"], concepts=2, names=9)
    assert sample.texts == ("b anfall", "b attack", "癫痫1", "b fever", "d anfall", "d attack", "癫痫3", "d fever")
    assert sample.languages == ("de-AT", "en, nl", "zh", "en", "de-AT", "en", "zh", "en")


def test_without_a_choice_all_are_random() -> None:
    sample, drawn = (
        sample_chosen(VOCABULARY, [], concepts=4, names=3),
        sample_names(VOCABULARY, concepts=4, names=3),
    )
    assert (sample.texts, sample.concepts, sample.languages) == (drawn.texts, drawn.concepts, ())


def test_what_cannot_be_chosen_is_said() -> None:
    with pytest.raises(UnknownNameError, match="no concept 'T:99' in the vocabulary"):
        sample_chosen(VOCABULARY, ["T:99"], concepts=4, names=3)
    with pytest.raises(InputError, match="only 23 other concepts of the vocabulary have two or more"):
        sample_chosen(VOCABULARY, ["T:1"], concepts=30, names=3)
    with pytest.raises(InputError, match="X:1 has no names to draw"):
        sample_chosen(vocabulary({"X:1": [], "X:2": ["gout"]}), ["X:1"], concepts=1, names=3)


def test_names_are_labelled_by_language_and_others_are_grey(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fonts, "_is_drawn", lambda char: ord(char) < 256)
    sample = sample_chosen(VOCABULARY, ["T:1"], concepts=5, names=4)
    figure = draw_space(sample, {"before": vectors(sample)})
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.texts] == ["de-AT", "en, nl", "zh", "en", *sample.concepts[1:]]
    key = "b Attack: de-AT b anfall · en, nl b attack · zh dianxian1 · en b fever"
    assert [line.replace("\N{NO-BREAK SPACE}", " ") for line in written(figure)] == [key]
    colours = [str(drawn.get_facecolor()) for drawn in axes.collections]
    assert colours[0] not in colours[1:]
    assert len(set(colours[1:])) == 1
    assert axes.get_title().endswith(" % of coloured names")
    assert figure.get_suptitle() == f"{len(sample.texts)} names of 5 concepts, random ones in grey"


def test_names_in_one_language_are_written_out() -> None:
    one = vocabulary({f"T:{number}": [f"Pain {number}", f"ache {number}"] for number in range(3)})
    sample = sample_chosen(one, ["T:1", "T:2"], concepts=2, names=2)
    figure = draw_space(sample, {"before": vectors(sample)})
    assert [text.get_text() for text in figure.axes[0].texts] == ["pain 1", "ache 1", "pain 2", "ache 2"]
    assert written(figure) == ["Pain 1", "Pain 2"]
    assert figure.get_suptitle() == "4 names of 2 concepts, each of one colour and shape"


def test_japanese_is_not_romanised_as_chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fonts, "_is_drawn", str.isascii)
    texts = ("seizure", "発作", "てんかん")
    sample = NameSample(texts, np.zeros(3, np.int32), ("Seizure",), ("en", "ja", "ja"))
    figure = draw_space(sample, {"x": np.eye(3, dtype=np.float32)})
    assert written(figure) == ["Seizure: en\xa0seizure · ja · ja\xa0tenkan"]
