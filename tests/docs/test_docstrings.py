"""The examples of docstrings run in the folder of examples, and each exported name has one."""

from __future__ import annotations

import doctest
import importlib
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

import nymlink
from nymlink.annotation import annotator
from nymlink.index.index import Index
from nymlink.linking import default
from nymlink.rerank.dual_encoder import DualEncoder, DualEncoderConfig
from tests.docs import world
from tests.encode import tiny

SOURCE = world.ROOT / "src"


@pytest.fixture
def examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The folder of examples, with an untrained encoder and re-ranker, and a small ontology as the default."""
    folder = tmp_path / "examples"
    shutil.copytree(world.EXAMPLES, folder)
    tiny.folder(folder / "base", max_position_embeddings=130)
    DualEncoder.from_encoder(folder / "base", DualEncoderConfig(max_length=64)).save(folder / "reranker")
    (folder / "hp.obo").write_text(world.HPO, encoding="utf-8")
    for name in ("hp", "diseases"):
        Index.build(nymlink.read_vocabulary(folder / f"{name}.obo"), encoder=None).save(folder / f"{name}-index")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("NYMLINK_INDEX", "hp-index")
    shared = (default._opened, default._shared_linker, annotator._shared_annotator)
    for each in shared:
        each.cache_clear()
    yield
    for each in shared:
        each.cache_clear()


@pytest.mark.usefixtures("examples")
def test_examples_of_docstrings_run() -> None:
    reports: list[str] = []
    for path in sorted(SOURCE.rglob("*.py")):
        if ">>> " in path.read_text(encoding="utf-8"):
            module = importlib.import_module(".".join(path.relative_to(SOURCE).with_suffix("").parts))
            for test in doctest.DocTestFinder().find(module):
                with warnings.catch_warnings(action="ignore"):
                    doctest.DocTestRunner().run(test, out=reports.append)
    assert not reports, "\n".join(reports)


def test_each_exported_name_has_an_example() -> None:
    # A schema of Arrow has the docstring of its class.
    exported = {name: getattr(nymlink, name) for name in nymlink.__all__ if callable(getattr(nymlink, name))}
    assert [name for name, value in exported.items() if ">>> " not in (value.__doc__ or "")] == []
