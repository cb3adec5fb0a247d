"""Make a small project: a table, what its terms are linked to, and decisions of two reviewers."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.project.add_file import add_table
from nymlink.project.decisions import decide
from nymlink.project.index_reference import IndexReference
from nymlink.project.links import link_waiting
from nymlink.project.project import Project
from nymlink.project.rows import Target
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary

_NAMES: Final = ("gout", "fever", "heart attack", "focal seizure", "cleft lip", "short stature", "cold feet")
TABLE: Final = "code,finding,n\n" + "".join(f"c{at},{name}s,{at + 1}\n" for at, name in enumerate(_NAMES))


def small_index(directory: Path | None = None) -> Index:
    """Make an index of a few names, in memory or in a folder."""
    builder = TableBuilder()
    for number, name in enumerate(_NAMES):
        builder.concept(f"X:{number}")
        builder.name(f"X:{number}", name, lang="en", kind="preferred")
    vocabulary = Vocabulary.of((Source("toy", "table", version="1"), builder.build()))
    return Index.build(vocabulary, directory=directory, encoder=None)


def make_project(path: Path, *, directory: Path | None = None) -> None:
    """Make the project in a file, and its index in memory or in a folder."""
    index = small_index(directory)
    name = "toy" if directory is None else str(directory)
    with Project.create(path, index=IndexReference.of(name, index), title="Visits") as project:
        add_table(project, TABLE.encode(), "visits.csv")
        link_waiting(project, Linker(index, top_k=10).link)
        for term in (1, 2, 3):
            decide(project, reviewer="ann", term=term, verdict="concept", targets=[Target(f"X:{term - 1}")])
        decide(project, reviewer="bob", term=1, verdict="nil", comment="unlike")
        decide(project, reviewer="bob", term=2, verdict="flag")
