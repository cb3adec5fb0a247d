"""The index: built, saved, loaded, refused."""

from __future__ import annotations

import contextlib
import json
import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nymlink.core.errors import InputError, OutputError, StoreError, UnknownNameError
from nymlink.core.store.manifest import read_manifest, seal, write_manifest
from nymlink.index.hits import NONE
from nymlink.index.index import Index
from nymlink.index.index_folder import store_calibration, store_ranker
from nymlink.index.sparse.features import DEFAULT_PRESET, PRESETS
from nymlink.text.english.words import stop_words
from nymlink.vocabulary.vocabulary import Vocabulary
from tests.index.small import many_names, vocabulary

NAMES = many_names(200)
VOCABULARY = vocabulary(
    {
        **{f"X:{number}": NAMES[4 * number : 4 * number + 4] for number in range(50)},
        "X:old": ["forgotten name"],
        "Y:1": ["heart attack", "heart attack", "attack, heart", "infarctus du myocarde", "心筋梗塞", "+++"],
    },
    replaced={"X:old": ["Y:1"]},
)
QUERIES = ["heart atack", "myocarde", "心筋", "+++", "forgotten name", "", *(name[1:] for name in NAMES[:20])]


@pytest.fixture(scope="module", params=list(PRESETS))
def built(request: pytest.FixtureRequest) -> Index:
    return Index.build(VOCABULARY, sparse=request.param, encoder=None)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("index") / "small"
    Index.build(VOCABULARY, encoder=None).save(directory)
    return directory


def test_the_equal_name_is_first_and_full_marks(built: Index) -> None:
    # A search by words has nothing to say of a name that is all stop words.
    names = [name for name in NAMES if not set(name.split()) <= set(stop_words())]
    matches = built.match(names, 3)
    assert [built.vocabulary.name(row).text for row in matches.names[:, 0]] == names
    np.testing.assert_allclose(matches.scores[:, 0], 1, atol=1e-6)
    for scores in matches.parts.values():
        np.testing.assert_allclose(scores[:, 0], 1, atol=1e-6)


def test_parts_and_weights_explain_every_score(built: Index) -> None:
    matches = built.match(QUERIES, 5)
    assert set(matches.parts) == set(built.search.weights)
    total = sum(built.search.weights[name] * scores for name, scores in matches.parts.items())
    np.testing.assert_allclose(matches.scores, total, atol=1e-6)
    assert sum(built.search.weights.values()) == pytest.approx(1)


def test_obsolete_concepts_and_blank_queries_match_nothing(built: Index) -> None:
    matches = built.match(["forgotten name", ""], 60)
    assert built.vocabulary.row("X:old") not in matches.concepts[0]
    assert (matches.concepts[1] == NONE).all()


def test_saved_and_loaded_it_finds_the_same(built: Index, tmp_path: Path) -> None:
    built.save(tmp_path / "index")
    loaded = Index.load(tmp_path / "index")
    assert dict(loaded.settings) == dict(built.settings)
    assert loaded.vocabulary.sources == built.vocabulary.sources
    before, after = built.match(QUERIES, 7), loaded.match(QUERIES, 7)
    for name in ("concepts", "names", "scores"):
        assert np.array_equal(getattr(before, name), getattr(after, name))
    assert before.parts.keys() == after.parts.keys()
    assert all(np.array_equal(before.parts[name], after.parts[name]) for name in before.parts)
    # And it can be saved again, over itself, while its files are mapped.
    loaded.save(tmp_path / "index")
    assert np.array_equal(Index.load(tmp_path / "index").match(QUERIES, 7).concepts, before.concepts)


def test_written_directly_it_is_what_is_built_and_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, built: Index
) -> None:
    monkeypatch.setattr("nymlink.index.sparse.sparse_search._SHARD", 64)
    sparse = built.settings["sparse"]
    Index.build(VOCABULARY, sparse=sparse, encoder=None).save(tmp_path / "saved")
    written = Index.build(VOCABULARY, directory=tmp_path / "written", sparse=sparse, encoder=None)
    assert _files(tmp_path / "written") == _files(tmp_path / "saved")
    for name in _files(tmp_path / "saved"):
        assert (tmp_path / "written" / name).read_bytes() == (tmp_path / "saved" / name).read_bytes(), name
    # And it finds what the index finds whose searches are of one shard.
    whole, cut = built.match(QUERIES, 7), written.match(QUERIES, 7)
    assert np.array_equal(whole.concepts, cut.concepts)
    np.testing.assert_allclose(whole.scores, cut.scores, atol=1e-6)


def test_names_in_chosen_languages_only(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no names to search in xx; its languages: "):
        Index.build(VOCABULARY, directory=tmp_path / "index", languages=["xx"], encoder=None)
    assert not (tmp_path / "index").exists()


def test_without_sparse_search_only_equal_names_match() -> None:
    matches = Index.build(VOCABULARY, sparse="none", encoder=None).match(["heart attack", "heart atack"], 2)
    assert matches.concepts.tolist() == [[VOCABULARY.row("Y:1"), NONE], [NONE, NONE]]
    assert matches.scores.tolist() == [[1, 0], [0, 0]]


@pytest.mark.parametrize("sparse", PRESETS)
def test_orders_of_words_are_one_entry_but_in_published_settings(sparse: str) -> None:
    index = Index.build(VOCABULARY, sparse=sparse, encoder=None)
    found = index.search.search(["attack heart"], 2).hits
    [[best, *_]] = found.rows.tolist()
    assert index.entries.text(best) == ("heart attack" if sparse == DEFAULT_PRESET else "attack heart")
    matches = index.match(["attack heart"], 1)
    assert index.vocabulary.concept_id(int(matches.concepts[0, 0])) == "Y:1"
    assert index.vocabulary.name(int(matches.names[0, 0])).text == "attack, heart"
    np.testing.assert_allclose(matches.scores, 1, atol=1e-6)
    for scores in matches.parts.values():
        np.testing.assert_allclose(scores, 1, atol=1e-6)
    assert index.concepts_named("attack heart") == index.concepts_named("heart attack") != frozenset()


def test_a_vocabulary_of_a_few_names_is_searched_too() -> None:
    index = Index.build(
        vocabulary({"A:1": ["heart attack"], "A:2": ["stroke"], "A:3": ["breast cancer"]}), encoder=None
    )
    matches = index.match(["hart atack", "strokes", "cancer of breast"], 1)
    assert matches.concepts[:, 0].tolist() == [0, 1, 2]


def test_nothing_to_search_is_an_error() -> None:
    with pytest.raises(InputError, match="no names"):
        Index.build(vocabulary({"X:1": []}), encoder=None)


def test_an_unknown_preset_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match=r"biosyn.*le-nguyen"):
        Index.build(VOCABULARY, sparse="best", encoder=None)


def test_it_does_not_replace_what_is_not_its_own(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear", encoding="utf-8")
    with pytest.raises(OutputError):
        Index.build(VOCABULARY, sparse="none", encoder=None).save(tmp_path)
    assert (tmp_path / "letter.txt").read_text(encoding="utf-8") == "dear"


def test_it_does_not_replace_the_vocabulary_it_is_made_of(tmp_path: Path) -> None:
    VOCABULARY.save(tmp_path / "v")
    with pytest.raises(OutputError, match="holds a nymlink vocabulary, not an index"):
        Index.build(Vocabulary.load(tmp_path / "v"), sparse="none", encoder=None).save(tmp_path / "v")
    assert len(Vocabulary.load(tmp_path / "v")) == len(VOCABULARY)


def test_what_is_missing_or_of_another_kind_is_an_error(saved: Path, tmp_path: Path) -> None:
    for directory in (tmp_path / "nowhere", tmp_path, saved / "vocabulary"):
        with pytest.raises(StoreError):
            Index.load(directory)


def test_another_format_version_is_an_error(saved: Path, tmp_path: Path) -> None:
    directory = shutil.copytree(saved, tmp_path / "copy")
    manifest = json.loads((directory / "manifest.json").read_text(encoding="utf-8"))
    manifest["format"] += 1
    write_manifest(directory, manifest)
    with pytest.raises(StoreError, match="format"):
        Index.load(directory)


def _files(directory: Path) -> list[str]:
    return sorted(path.relative_to(directory).as_posix() for path in directory.rglob("*") if path.is_file())


def test_every_missing_truncated_or_overwritten_file_is_noticed(saved: Path, tmp_path: Path) -> None:
    directory = shutil.copytree(saved, tmp_path / "copy")
    files = _files(directory)
    assert len(files) > 15
    for name in files:
        whole = (directory / name).read_bytes()
        (directory / name).unlink()
        with pytest.raises(StoreError):
            Index.load(directory)
        for broken in (b"", whole[:-2], whole[: len(whole) // 2], bytes(len(whole))):
            (directory / name).write_bytes(broken)
            with pytest.raises(StoreError):
                Index.load(directory)
        (directory / name).write_bytes(whole)
    Index.load(directory)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damage_is_an_error_or_does_not_show(saved: Path, tmp_path: Path, data: st.DataObject) -> None:
    directory = tmp_path / "copy"
    if not directory.exists():
        shutil.copytree(saved, directory)
    file = directory / data.draw(st.sampled_from(_files(saved)))
    whole = file.read_bytes()
    start = data.draw(st.integers(0, min(len(whole), 400) - 1))
    patch = data.draw(st.binary(min_size=1, max_size=12))[: len(whole) - start]
    file.write_bytes(whole[:start] + patch + whole[start + len(patch) :])
    with contextlib.suppress(StoreError):
        Index.load(directory)
    file.write_bytes(whole)


def test_files_that_do_not_belong_together_are_noticed(saved: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    Index.build(vocabulary({"X:1": ["heart"], "X:2": ["attack"]}), encoder=None).save(other)
    sparse = [f"sparse/{name}.npy" for name in ("0/keys", "0/starts", "0/postings", "scales", "hashes", "sizes")]
    for name in ("entries.arrow", "entry_offsets.npy", *sparse):
        directory = shutil.copytree(saved, tmp_path / "copy", dirs_exist_ok=True)
        shutil.copy(other / name, directory / name)
        seal(directory, json.loads((directory / "manifest.json").read_text(encoding="utf-8")))
        with pytest.raises(StoreError, match="damaged"):
            Index.load(directory)


@pytest.mark.parametrize("value", [-1, 2**31 - 1, -(2**31)])
@pytest.mark.parametrize("name", ["sparse/0/starts", "sparse/sizes", "entry_offsets", "entry_names"])
def test_a_number_that_leads_out_of_memory_is_noticed(saved: Path, tmp_path: Path, name: str, value: int) -> None:
    directory = shutil.copytree(saved, tmp_path / "copy")
    array = np.load(directory / f"{name}.npy")
    array[len(array) // 2] = value
    np.save(directory / f"{name}.npy", array)
    seal(directory, json.loads((directory / "manifest.json").read_text(encoding="utf-8")))
    with pytest.raises(StoreError, match="damaged"):
        Index.load(directory)


def test_a_posting_that_leads_out_of_memory_is_noticed_when_it_is_followed(saved: Path, tmp_path: Path) -> None:
    directory = shutil.copytree(saved, tmp_path / "copy")
    np.save(directory / "sparse/0/postings.npy", np.load(directory / "sparse/0/postings.npy") | np.uint32(1 << 23))
    opened = Index.load(directory)
    with pytest.raises(StoreError, match="damaged"):
        opened.match(QUERIES, 3)


def test_texts_that_lie_outside_of_their_file_are_noticed(saved: Path, tmp_path: Path) -> None:
    directory = shutil.copytree(saved, tmp_path / "copy")
    whole = (directory / "entries.arrow").read_bytes()
    texts = Index.load(saved).entries.texts.to_pylist()
    offsets = np.cumsum([0] + [len(text.encode()) for text in texts])
    assert whole.count(offsets.tobytes()) == 1
    damaged = offsets.copy()
    damaged[len(offsets) // 2] = 2**40
    (directory / "entries.arrow").write_bytes(whole.replace(offsets.tobytes(), damaged.tobytes()))
    with pytest.raises(StoreError, match="damaged"):
        Index.load(directory)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"searches": []}, r"searches are \[\], its settings say \['sparse'\]"),
        ({"searches": ["sparse", "sparse"]}, "its settings say"),
        ({"searches": ["../copy/sparse"]}, "its settings say"),
        ({"settings": {"sparse": "best", "encoder": None}}, "unknown sparse setting"),
        ({"settings": {"sparse": ["nymlink"]}}, "damaged"),
        ({"searches": None}, "damaged"),
        ({"settings": None}, "damaged"),
    ],
)
def test_a_manifest_that_says_nonsense_is_an_error(
    saved: Path, tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    directory = shutil.copytree(saved, tmp_path / "copy")
    manifest = json.loads((directory / "manifest.json").read_text(encoding="utf-8"))
    write_manifest(directory, manifest | change)
    with pytest.raises(StoreError, match=message):
        Index.load(directory)


def test_a_manifest_that_does_not_list_a_file_is_an_error(saved: Path, tmp_path: Path) -> None:
    directory = shutil.copytree(saved, tmp_path / "copy")
    manifest = json.loads((directory / "manifest.json").read_text(encoding="utf-8"))
    for name in _files(saved):
        if name == "manifest.json" or name.startswith("vocabulary/"):
            continue
        files = {file: size for file, size in manifest["files"].items() if file != name}
        write_manifest(directory, manifest | {"files": files})
        with pytest.raises(StoreError, match=f"does not list {name}"):
            Index.load(directory)


def test_commands_that_change_an_index_at_once_lose_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = Index.build(vocabulary({"X:1": ["gout"], "X:2": ["stroke"]}), encoder=None, directory=tmp_path / "i")
    read = threading.Event()

    def read_slowly(*arguments: Any, **settings: Any) -> dict[str, Any]:
        found = read_manifest(*arguments, **settings)
        read.set()
        time.sleep(0.2)
        return found

    monkeypatch.setattr("nymlink.index.index_folder.read_manifest", read_slowly)
    fusion = index.fusion
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(store_ranker, tmp_path / "i", {"trees": []}, fusion=fusion)
        assert read.wait(10)
        second = pool.submit(store_calibration, tmp_path / "i", {"curve": []}, fusion=fusion)
        for change in (first, second):
            change.result(30)
    manifest = json.loads((tmp_path / "i" / "manifest.json").read_text(encoding="utf-8"))
    assert (manifest["ranker"], manifest["calibration"]) == ({"trees": []}, {"curve": []})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["i"]
