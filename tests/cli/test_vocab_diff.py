"""Two releases of a vocabulary are compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nymlink.vocabulary.changes import compare_releases
from nymlink.vocabulary.read import open_vocabulary
from tests.cli.conftest import Run

OLD = """\
[Term]
id: X:1
name: disease

[Term]
id: X:2
name: gout
synonym: "podagra" EXACT []
is_a: X:1

[Term]
id: X:3
name: quinsy
is_a: X:1

[Term]
id: X:4
name: dropsy
is_a: X:1

[Term]
id: X:5
name: ague
is_a: X:1

[Term]
id: X:6
name: obsolete humour
is_obsolete: true
"""

NEW = """\
[Term]
id: X:1
name: disease
alt_id: X:9

[Term]
id: X:2
name: gouty arthritis
synonym: "gout" EXACT []
is_a: X:7

[Term]
id: X:7
name: arthritis
alt_id: X:3
is_a: X:1

[Term]
id: X:4
name: obsolete dropsy
is_obsolete: true
replaced_by: X:7
replaced_by: X:2

[Term]
id: X:6
name: humour
is_a: X:1
"""

CHANGES = [
    ("gone", "X:5", "ague", (), ()),
    ("merged", "X:3", "quinsy", (), ("X:7",)),
    ("split", "X:4", "dropsy", (), ("X:7", "X:2")),
    ("added", "X:6", "humour", (), ()),
    ("added", "X:7", "arthritis", (), ()),
    ("renamed", "X:2", "gout", ("gout",), ("gouty arthritis",)),
    ("moved", "X:2", "gout", ("X:1",), ("X:7",)),
    ("names", "X:2", "gout", ("podagra",), ("gouty arthritis",)),
]


@pytest.fixture
def releases(tmp_path: Path) -> tuple[Path, Path]:
    paths = tmp_path / "old.obo", tmp_path / "new.obo"
    for path, text in zip(paths, (OLD, NEW), strict=True):
        path.write_text(f"format-version: 1.2\n\n{text}", encoding="utf-8")
    return paths


def test_each_kind_of_change_is_found(releases: tuple[Path, Path]) -> None:
    found = compare_releases(*map(open_vocabulary, releases))
    assert {(each.kind, each.id, each.name, each.old, frozenset(each.new)) for each in found} == {
        (kind, id_, name, old, frozenset(new)) for kind, id_, name, old, new in CHANGES
    }
    assert [each.kind for each in found] == [kind for kind, *_ in CHANGES]


def test_a_release_does_not_differ_from_itself(releases: tuple[Path, Path], data: Path) -> None:
    for path in (*releases, data / "vocabularies/doid.tsv.gz"):
        vocabulary = open_vocabulary(path)
        assert compare_releases(vocabulary, vocabulary) == []


def test_the_command_prints_a_table_or_json(run: Run, releases: tuple[Path, Path]) -> None:
    table = run("vocab", "diff", *releases)
    header, *lines = table.stdout.splitlines()
    assert (table.exit_code, header) == (0, "change\tid\tname\told\tnew")
    assert "moved\tX:2\tgout\tX:1\tX:7" in lines
    assert "1 gone, 1 merged, 1 split, 2 added, 1 renamed, 1 moved, 1 names" in table.stderr
    given = json.loads(run("vocab", "diff", *releases, "--json").stdout)
    assert given["counts"] == {
        "gone": 1, "merged": 1, "split": 1, "added": 2, "renamed": 1, "moved": 1, "names": 1
    }  # fmt: skip
    assert len(given["changes"]) == len(lines) == len(CHANGES)
    assert given["changes"][0] == {"kind": "gone", "id": "X:5", "name": "ague", "old": [], "new": []}


def test_other_vocabularies_are_refused(run: Run, releases: tuple[Path, Path], tmp_path: Path) -> None:
    other = tmp_path / "other.obo"
    other.write_text("format-version: 1.2\n\n[Term]\nid: Y:1\nname: gout\n", encoding="utf-8")
    result = run("vocab", "diff", releases[0], other)
    assert result.exit_code == 2
    assert "no releases of one vocabulary" in result.stderr
    assert run("vocab", "diff", releases[0], tmp_path / "missing").exit_code == 2
