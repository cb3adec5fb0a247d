"""Tables of links after a release, rolled up, and with ids of other vocabularies."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from nymlink.core.errors import InputError
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.vocabulary.crossing import Crossing, RollUp
from nymlink.vocabulary.mappings import read_mappings
from tests.cli.conftest import Run

OLD = """\
[Term]
id: X:1
name: disease

[Term]
id: X:2
name: gout
synonym: "podagra" EXACT []
xref: ICD10CM:M10
is_a: X:1

[Term]
id: X:3
name: acute gout
is_a: X:2

[Term]
id: X:4
name: dropsy
is_a: X:1

[Term]
id: X:5
name: ague
xref: OMIM:1
is_a: X:1

[Term]
id: X:6
name: marsh fever
is_a: X:5
is_a: X:4
"""

NEW = """\
[Term]
id: X:1
name: disease

[Term]
id: X:2
name: gout
is_a: X:1

[Term]
id: X:3
name: acute gout
is_a: X:2

[Term]
id: X:4
name: obsolete dropsy
is_obsolete: true
replaced_by: X:7

[Term]
id: X:5
name: ague
is_a: X:1

[Term]
id: X:6
name: marsh fever
is_a: X:5

[Term]
id: X:7
name: oedema
synonym: "dropsy" EXACT []

[Term]
id: X:8
name: podagra
is_a: X:1

[Term]
id: X:9
name: severe quinsy
is_a: X:1
"""

MAPPINGS = """\
subject_id\tpredicate_id\tobject_id\tmapping_justification
X:3\tskos:exactMatch\tICD10CM:M10.9\tsemapv:ManualMappingCuration
ICD10CM:B54\tskos:broadMatch\tX:6\tsemapv:ManualMappingCuration
X:5\tskos:relatedMatch\tICD10CM:R50\tsemapv:ManualMappingCuration
"""

LINKS = [
    ("gout", "X:2", "gout"),
    ("podagra", "X:2", "podagra"),
    ("dropsy", "X:4", "dropsy"),
    ("marsh fever", "X:6", "marsh fever"),
    ("quinsy", "", ""),
    ("zzz", "", ""),
    ("=acute gout", "X:3", "acute gout"),
]


@pytest.fixture(scope="module")
def folder(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("releases")
    for name, text in (("old", OLD), ("new", NEW)):
        (folder / f"{name}.obo").write_text(text, encoding="utf-8")
        built = run("index", "build", folder / f"{name}.obo", "-o", folder / name, "--encoder", "none")
        assert built.exit_code == 0, built.output
    (folder / "m.sssom.tsv").write_text(MAPPINGS, encoding="utf-8")
    lines = ["mention,concept_id,matched_name", *map(",".join, LINKS)]
    (folder / "links.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text.splitlines(), delimiter="\t"))


@pytest.mark.parametrize("old", ["old", "old.obo"])
def test_only_what_a_release_affects_is_linked_again(run: Run, folder: Path, old: str) -> None:
    result = run("relink", folder / "links.csv", "--old", folder / old, "--new", folder / "new")
    assert result.exit_code == 0, result.output
    found = [(row["concept_id"], row["why"], row["old_id"]) for row in rows(result.stdout)]
    assert found == [
        ("X:2", "", ""),
        ("X:8", "name lost: podagra", "X:2"),
        ("X:7", "merged: X:4 → X:7", "X:4"),
        ("X:6", "", ""),
        ("X:9", "name like it new: X:9", ""),
        ("", "", ""),
        ("X:3", "", ""),
    ]
    # The name that matched is that of the new link.
    vocabulary = Index.load(folder / "new").vocabulary
    for row in rows(result.stdout):
        if row["why"]:
            assert row["matched_name"] in {name.text for name in vocabulary.names(row["concept_id"])}
    assert "7 links: 4 not affected, 1 name lost, 1 merged, 1 name like it new" in result.stderr


def test_parts_are_linked_again_and_further_candidates_stay(run: Run, folder: Path, tmp_path: Path) -> None:
    lines = [
        "mention,rank,part,concept_id,concept_name,matched_name",
        '"gout, podagra",1,podagra,X:2,gout,podagra',
        '"gout, podagra",2,podagra,X:4,dropsy,dropsy',
        '"gout, podagra",1,gout,X:2,gout,gout',
    ]
    (tmp_path / "links.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    result = run("relink", tmp_path / "links.csv", "--old", folder / "old", "--new", folder / "new")
    assert result.exit_code == 0, result.output
    found = [(row["concept_id"], row["why"], row["old_id"]) for row in rows(result.stdout)]
    assert found == [
        ("X:8", "name lost: podagra", "X:2"),
        ("X:7", "merged: X:4 → X:7", "X:4"),
        ("X:2", "", ""),
    ]


def test_releases_of_other_vocabularies_are_refused(run: Run, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "y.obo").write_text("[Term]\nid: Y:1\nname: disease\n", encoding="utf-8")
    result = run("relink", folder / "links.csv", "--old", tmp_path / "y.obo", "--new", folder / "new")
    assert result.exit_code == 2
    assert "these are no releases of one vocabulary" in result.stderr
    missing = run("relink", folder / "links.csv", "--old", tmp_path / "gone", "--new", folder / "new")
    assert (missing.exit_code, "no such index" in missing.stderr) == (2, True)


def test_concepts_are_rolled_up_and_counted(run: Run, folder: Path) -> None:
    given = ("recode", folder / "links.csv", "--index", folder / "old")
    result = run(*given, "--level", 1)
    assert result.exit_code == 0, result.output
    assert [row["rolled_up"] for row in rows(result.stdout)] == ["X:2", "X:2", "X:4", "X:5|X:4", "", "", "X:2"]
    counted = run(*given, "--slim", "X:2", "--slim", "X:5", "--counts")
    assert counted.stdout.splitlines() == [
        "concept_id\tconcept_name\tcount",
        "X:2\tgout\t3",
        "\t\t1",
        "X:5\tague\t1",
    ]
    refused = run(*given, "--slim", "X:22")
    assert (refused.exit_code, "'X:22' is no concept" in refused.stderr) == (2, True)
    assert run(*given, "--slim", "X:2", "--level", 1).exit_code == 2
    assert run(*given, "--level", 9).exit_code == 2


def test_ids_of_another_vocabulary_say_what_is_lost(run: Run, folder: Path, tmp_path: Path) -> None:
    given = ("recode", folder / "links.csv", "--index", folder / "old", "--to")
    result = run(*given, "icd-10-cm", "--mappings", folder / "m.sssom.tsv", "-o", tmp_path / "coded.tsv")
    assert result.exit_code == 0, result.output
    coded = rows((tmp_path / "coded.tsv").read_text(encoding="utf-8"))
    names = ("icd-10-cm", "icd-10-cm_kind", "icd-10-cm_loss")
    assert [tuple(row[name] for name in names) for row in coded] == [
        ("ICD10CM:M10", "xref", "kind not stated"),
        ("ICD10CM:M10", "xref", "kind not stated"),
        ("", "", ""),
        ("ICD10CM:B54", "narrow", "narrower"),
        ("", "", ""),
        ("", "", ""),
        ("ICD10CM:M10.9", "exact", ""),
    ]
    assert coded[-1]["mention"] == "'=acute gout"
    above = rows(run(*given, "ICD10CM").stdout)[-1]
    assert (above["ICD10CM"], above["ICD10CM_loss"]) == ("ICD10CM:M10", "1 level broader")
    refused = run(*given, "SNOMED")
    assert refused.exit_code == 2
    assert "no concept has an id of 'SNOMED'; there are: ICD10CM (1), OMIM (1)" in refused.stderr


def test_links_cross_over(folder: Path) -> None:
    linker = Linker.load(folder / "old")
    links = linker.link(["acute gout", "zzz", "ague"])
    assert [[each.id for each in found] for found in links.to_ids("ICD10CM")] == [["ICD10CM:M10"], [], []]
    mapped = links.to_ids("ICD10CM", mappings=[read_mappings(folder / "m.sssom.tsv")])
    assert [[(each.id, each.kind, each.loss) for each in found] for found in mapped] == [
        [("ICD10CM:M10.9", "exact", "")],
        [],
        [("ICD10CM:R50", "related", "related")],
    ]
    with pytest.raises(InputError, match="no concept has an id"):
        Crossing(linker.index.vocabulary, "MESH")
    assert RollUp(linker.index.vocabulary, level=0).of("X:6") == ("X:1",)
