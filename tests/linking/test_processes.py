"""A linker is handed to other processes by the path of its index."""

from __future__ import annotations

import inspect
import multiprocessing
import pickle
import threading
from pathlib import Path

import pytest

from nymlink.core.errors import InputError, MissingExtraError, NymlinkError, StoreError
from nymlink.index.fusion import EXACT_MATCH, Fusion
from nymlink.index.index import Index
from nymlink.index.index_folder import store_calibration
from nymlink.linking.calibration import CONFIDENCE_FEATURES, Calibration
from nymlink.linking.linker import Linker
from nymlink.rerank.reranker import Reranker
from nymlink.vocabulary.restriction import Restriction
from tests.index.small import vocabulary
from tests.linking.toy import built_index, built_linker

MENTIONS = ["heart attack", "hart attack", "MI", "breast cancer and ovarian cancer", ""]
CALIBRATION = Calibration(
    -2.0, dict.fromkeys(CONFIDENCE_FEATURES, 1.0), ((0.0, 0.1), (0.5, 0.9)), "made up"
).to_dict()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("index") / "index"
    built_index().with_calibration(CALIBRATION).save(folder)
    return folder


def again(linker: Linker) -> Linker:
    found = pickle.loads(pickle.dumps(linker))
    assert isinstance(found, Linker)
    return found


@pytest.mark.usefixtures("quick_workers")
def test_another_process_links_alike(folder: Path) -> None:
    linker = Linker.load(folder, top_k=2)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(linker.link, MENTIONS) == linker.link(MENTIONS)


def test_it_is_a_path_not_a_copy(folder: Path) -> None:
    assert len(pickle.dumps(Linker.load(folder))) < 4096


def test_all_its_settings_go_with_it(folder: Path) -> None:
    given = {"top_k": 3, "spelling": {"hart": "heart"}, "composites": "always", "target_precision": 0.4}
    given |= {"guesses": False, "language": "en", "restriction": Restriction(exclude=("MI",))}
    known = inspect.signature(Linker).parameters.keys() - {"index", "rerank", "judge"}
    assert given.keys() == known, "a setting that is new here must be handed on too"
    linker = Linker(Index.load(folder), **given)  # type: ignore[arg-type]
    assert again(linker).link(MENTIONS) == linker.link(MENTIONS)
    other = again(linker)
    kept = {name: getattr(other if hasattr(other, name) else other.pipeline, name) for name in given}
    assert kept == given


def test_what_was_changed_since_it_was_loaded_goes_with_it(folder: Path) -> None:
    index = Index.load(folder)
    joined = index.with_fusion(Fusion.of(index.search.parts, weights={EXACT_MATCH: 0.7, "sparse": 0.3}))
    for changed in (joined, joined.with_calibration(CALIBRATION)):
        linker = Linker(changed)
        assert linker.link("hart attack") != Linker(index).link("hart attack")
        assert again(linker).link(MENTIONS) == linker.link(MENTIONS)


def test_a_relative_path_is_found_from_anywhere(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    pickled = pickle.dumps(Linker.load("index"))
    monkeypatch.chdir("/")
    assert pickle.loads(pickled).link(MENTIONS) == Linker.load(folder).link(MENTIONS)


def test_one_in_memory_says_what_to_do() -> None:
    with pytest.raises(InputError, match=r"built in memory .*Index\.save.*Linker\.load"):
        pickle.dumps(built_linker())


def test_an_index_that_was_built_anew_is_not_taken_for_it(tmp_path: Path) -> None:
    built_index().save(tmp_path / "index")
    pickled = pickle.dumps(Linker.load(tmp_path / "index"))
    Index.build(vocabulary({"X:1": ["flu"]}), sparse="biosyn", encoder=None).save(tmp_path / "index")
    with pytest.raises(StoreError, match="another index was built here"):
        pickle.loads(pickled)
    opened = Index.load(tmp_path / "index")
    pickled = pickle.dumps(opened)
    store_calibration(tmp_path / "index", CALIBRATION, fusion=opened.fusion)
    assert pickle.loads(pickled).calibration is None
    # Another release, with the same settings.
    Index.build(vocabulary({"X:2": ["cold"]}), sparse="biosyn", encoder=None).save(tmp_path / "index")
    with pytest.raises(StoreError, match="another index was built here"):
        pickle.loads(pickled)


def test_threads_share_one(folder: Path) -> None:
    linker = Linker.load(folder)
    expected = linker.link(MENTIONS)
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(linker.link(MENTIONS))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


@pytest.mark.parametrize(
    "error", [InputError("no x", path="file", line=3), MissingExtraError("train", purpose="Training")]
)
def test_errors_come_back_from_another_process(error: NymlinkError) -> None:
    found = pickle.loads(pickle.dumps(error))
    assert (type(found), str(found), found.__dict__) == (type(error), str(error), error.__dict__)


def test_a_re_ranker_says_what_to_do(folder: Path) -> None:
    index = Index.load(folder)
    linker = Linker(index, rerank=Reranker(NoScorer(), index.vocabulary))
    with pytest.raises(InputError, match=r"a re-ranker cannot be passed .*Reranker\.load"):
        pickle.dumps(linker)


class NoScorer:
    def scores(self, *_: object) -> list[object]:
        return []
