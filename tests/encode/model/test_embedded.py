"""The encoder that comes with nymlink is there, small, and knows what names mean."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from nymlink.core.errors import InputError
from nymlink.encode.encoder import Encoder
from nymlink.encode.model.folder import MINI, NO_ENCODER, installed, installed_calibration, installed_ranker
from nymlink.index.fusion import Fusion
from nymlink.index.index import Index
from nymlink.linking.calibration import Calibration
from nymlink.linking.linker import Linker
from nymlink.rank.ranker import Ranker
from tests.index.small import vocabulary

NAMES = ("myocardial infarction", "short stature", "seizures", "nosebleeds", "hair loss", "jaundice")
VOCABULARY = vocabulary({f"X:{number}": [name] for number, name in enumerate(NAMES)})


OTHER_FUSION = Fusion.of(("exact", "sparse"), weights={"exact": 0.5, "sparse": 0.5})
ROOT = Path(__file__).parents[3]
CALIBRATIONS = [
    path
    for folder in ("models", "src/nymlink/models")
    for path in sorted((ROOT / folder).rglob("*.calibration.json"))
]


@pytest.fixture(scope="module")
def mini() -> Encoder:
    return Encoder.load(MINI)


def test_it_is_small_and_needs_no_torch(mini: Encoder) -> None:
    folder = installed(MINI)
    assert folder is not None
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) < 25_000_000
    assert (mini.name, mini.backend, mini.network.precision, mini.width) == (MINI, "onnx", "int8", 384)


@pytest.mark.parametrize(
    ("lay", "name"),
    [
        ("heart attack", "myocardial infarction"),
        ("small for age", "short stature"),
        ("convulsions", "seizures"),
        ("bleeding from the nose", "nosebleeds"),
        ("going bald", "hair loss"),
        ("yellow skin", "jaundice"),
    ],
)
def test_it_knows_what_lay_words_mean(mini: Encoder, lay: str, name: str) -> None:
    vectors = mini.encode([lay, *NAMES])
    assert NAMES[int(np.argmax(vectors[1:] @ vectors[0]))] == name


def test_scripts_that_it_lacks_are_like_nothing(mini: Encoder) -> None:
    assert not mini.encode(["🙃", "รักษา", "ഹൃദയം", "[UNK]", "[CLS]"]).any()
    index = Index.build(vocabulary({"X:1": ["โรคหัวใจ"], "X:2": ["มะเร็ง"]}), encoder=MINI)
    assert not index.match(["เบาหวาน", "🙃"], 2).parts["dense"].any()


def test_it_can_be_trained_further(mini: Encoder) -> None:
    learner = Encoder.load(MINI, backend="torch", precision="fp32")
    assert (learner.encode(NAMES) * mini.encode(NAMES)).sum(1).min() > 0.99


def test_a_folder_of_that_name_is_told_from_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / MINI).mkdir()
    monkeypatch.chdir(tmp_path)
    assert Encoder.load(MINI).width == 384
    with pytest.raises(InputError):
        Encoder.load(f"./{MINI}")


def test_an_index_finds_it_wherever_nymlink_is(tmp_path: Path) -> None:
    Index.build(VOCABULARY, directory=tmp_path / "i", encoder=MINI)
    index = Index.load(tmp_path / "i")
    assert index.settings["encoder"]["name"] == MINI
    assert index.match(["heart attack"], 1).concepts.tolist() == [[0]]


def test_its_calibration_is_for_indexes_that_are_as_by_default(mini: Encoder) -> None:
    shipped = installed_calibration(MINI, mini.fingerprint)
    assert shipped is not None
    index = Index.build(VOCABULARY, encoder=MINI)
    assert Calibration.of(index) == Calibration.from_dict(shipped)
    assert Index.build(VOCABULARY, encoder=MINI, sparse="biosyn").calibration is None
    assert Index.build(VOCABULARY, encoder=MINI, fusion="reciprocal-rank").calibration is None
    assert index.with_fusion(Fusion.of(index.search.parts, weights={"dense": 1})).calibration is None
    # Other vectors, although of the same model.
    assert Index.build(VOCABULARY, encoder=Encoder.load(MINI, max_length=12)).calibration is None


def test_an_index_without_an_encoder_has_a_ranker_and_a_calibration_of_its_own(tmp_path: Path) -> None:
    index = Index.build(VOCABULARY, encoder=None)
    assert index.ranker == installed_ranker(NO_ENCODER, NO_ENCODER)
    assert index.calibration == installed_calibration(NO_ENCODER, NO_ENCODER)
    for other in (Index.build(VOCABULARY, encoder=None, sparse="biosyn"), index.with_fusion(OTHER_FUSION)):
        assert (other.ranker, other.calibration) == (None, None)
    index.save(tmp_path / "index")
    sure, unsure = Linker(Index.load(tmp_path / "index")).link(["nosebleeds", "jaundiced hair"])
    assert sure.best is not None
    assert sure.confidence is not None
    assert unsure.confidence is not None
    assert sure.confidence > 0.9 > unsure.confidence


@pytest.mark.parametrize("file", CALIBRATIONS, ids=lambda path: path.stem)
def test_calibrations_that_are_shipped_can_be_read(file: Path) -> None:
    assert Calibration.from_dict(json.loads(file.read_text(encoding="utf-8"))["calibration"]).surest > 0.5


def test_its_ranker_is_for_indexes_that_are_as_by_default(mini: Encoder) -> None:
    shipped = installed_ranker(MINI, mini.fingerprint)
    assert shipped is not None
    index = Index.build(VOCABULARY, encoder=MINI)
    ranker = Ranker.of(index)
    assert ranker is not None
    assert ranker.to_dict() == Ranker.from_dict(shipped).to_dict()
    assert ranker.learned_from
    assert Index.build(VOCABULARY, encoder=MINI, sparse="biosyn").ranker is None
    assert Index.build(VOCABULARY, encoder=MINI, fusion="reciprocal-rank").ranker is None
    assert index.with_fusion(Fusion.of(index.search.parts, weights={"dense": 1})).ranker is None
    assert Index.build(VOCABULARY, encoder=Encoder.load(MINI, max_length=12)).ranker is None
    [link] = Linker(index, top_k=2).link(["heart atack"])
    assert 0 < sum(candidate.parts["ranked"] for candidate in link.candidates) <= 1
