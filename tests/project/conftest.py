from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.project.add_file import add_table
from nymlink.project.index_reference import IndexReference
from nymlink.project.links import link_waiting
from nymlink.project.project import Project
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary
from tests.linking.toy import CALIBRATION

NAMES = {
    "X:1": ("gout", "podagra"),
    "X:2": ("fever", "pyrexia"),
    "X:3": ("heart attack", "myocardial infarction"),
    "X:4": ("focal seizure",),
    "X:5": ("seizure",),
}

TABLE = """\
code,finding,n,lang
A,gout,5,en
B,fever,2,en
C,heart attak,1,en
D,gout,1,en
E,,7,en
F,quite something else,1,en
"""


def vocabulary(names: dict[str, tuple[str, ...]], *, version: str = "1", **replaced: str) -> Vocabulary:
    """A vocabulary of names by ids; keywords are obsolete ids with what replaces them."""
    builder = TableBuilder()
    for concept_id, (preferred, *others) in names.items():
        builder.concept(concept_id)
        builder.name(concept_id, preferred, lang="en", kind="preferred")
        for name in others:
            builder.name(concept_id, name, lang="en")
    for old, new in replaced.items():
        concept_id = old.replace("_", ":")
        builder.concept(concept_id, obsolete=True, replaced_by=new.split())
        builder.name(concept_id, f"obsolete {concept_id}", lang="en", kind="preferred")
    return Vocabulary.of((Source("toy", "table", version=version), builder.build()))


def index_of(names: dict[str, tuple[str, ...]], **more: str) -> Index:
    return (
        Index.build(vocabulary(names, **more), encoder=None)
        .with_ranker(None)
        .with_calibration(CALIBRATION.to_dict())
    )


@pytest.fixture(scope="session")
def index() -> Index:
    return index_of(NAMES)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "visits.nymlink"


@pytest.fixture
def project(path: Path, index: Index) -> Iterator[Project]:
    with Project.create(path, index=IndexReference.of("toy", index), title="Visits") as made:
        yield made


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory, index: Index) -> Path:
    """The file of a project with a table whose terms are linked."""
    path = tmp_path_factory.mktemp("project") / "visits.nymlink"
    with Project.create(path, index=IndexReference.of("toy", index), title="Visits") as made:
        add_table(made, TABLE.encode(), "visits.csv", columns={"code": "code"})
        link_waiting(made, Linker(index, top_k=10).link)
    return path


@pytest.fixture
def linked(prepared: Path, path: Path) -> Iterator[Project]:
    """A project with terms that are linked: gout 1, fever 2, heart attak 3, quite something else 4."""
    shutil.copy(prepared, path)
    with Project(path) as project:
        yield project
