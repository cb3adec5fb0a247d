"""SNOMED CT RF2, on small releases written by the published specification."""

from __future__ import annotations

from pathlib import Path

import pytest

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.core.registry import find_format
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers import VOCABULARY_FORMATS
from nymlink.vocabulary.readers.snomed import FORMAT, open_release
from nymlink.vocabulary.tables import Tables

MODULE, FSN, SYNONYM, DEFINITION = "900000000000207008", 900000000000003001, 900000000000013009, 900000000000550004
US, GB, SPANISH = 900000000000509007, 900000000000508004, 448879004
PREFERRED, ACCEPTABLE = 900000000000548007, 900000000000549004
SAME_AS, REPLACED_BY, POSSIBLY = 900000000000527005, 900000000000526001, 900000000000523009
IS_A = 116680003

DESCRIPTION = "id effectiveTime active moduleId conceptId languageCode typeId term caseSignificanceId".split()
RELATIONSHIP = (
    "id effectiveTime active moduleId sourceId destinationId relationshipGroup typeId "
    "characteristicTypeId modifierId".split()
)
ANAEMIA, DISEASE, OLD = 271737000, 64572001, 999


def table(header: list[str], *rows: tuple[object, ...]) -> str:
    return "".join("\t".join(map(str, row)) + "\n" for row in (header, *rows))


def description(
    id_: int, concept: int, type_: int, term: str, *, lang: str = "en", time: int = 20200131, active: int = 1
):
    return (id_, time, active, MODULE, concept, lang, type_, term, "900000000000448009")


def is_a(id_: int, child: int, parent: int, *, time: int = 20200131, active: int = 1, type_: int = IS_A):
    return (id_, time, active, MODULE, child, parent, 0, type_, "900000000000011006", "900000000000451002")


def member(id_: str, refset: int, component: int, value: int, *, time: int = 20200131, active: int = 1):
    return (id_, time, active, MODULE, refset, component, value)


def files(type_: str = "Snapshot") -> dict[str, str]:
    """A release: its files' places and contents."""
    member_header = ["id", "effectiveTime", "active", "moduleId", "refsetId", "referencedComponentId"]
    return {
        f"{type_}/Terminology/sct2_Concept_{type_}_INT_20240101.txt": table(
            ["id", "effectiveTime", "active", "moduleId", "definitionStatusId"],
            *(
                (id_, 20200131, active, MODULE, 0)
                for id_, active in ((DISEASE, 1), (ANAEMIA, 1), (OLD, 0), (998, 0))
            ),
        ),
        f"{type_}/Terminology/sct2_Description_{type_}-en_INT_20240101.txt": table(
            DESCRIPTION,
            description(1, DISEASE, FSN, "Disease (disorder)"),
            description(2, DISEASE, SYNONYM, "Disease"),
            description(3, ANAEMIA, FSN, "Anemia (disorder)"),
            description(4, ANAEMIA, SYNONYM, "Anemia"),
            description(5, ANAEMIA, SYNONYM, "Anaemia"),
            description(6, ANAEMIA, SYNONYM, "Absolute anemia", active=0),
            description(7, OLD, SYNONYM, "Thin blood"),
            description(9, ANAEMIA, SYNONYM, 'Low "red" blood'),
        ),
        f"{type_}/Terminology/sct2_Description_{type_}-es_INT_20240101.txt": table(
            DESCRIPTION,
            description(20, ANAEMIA, FSN, "anemia (trastorno)", lang="es"),
            description(21, ANAEMIA, SYNONYM, "anemia", lang="es"),
            description(22, ANAEMIA, SYNONYM, "hipoglobulia", lang="es"),
        ),
        f"{type_}/Terminology/sct2_TextDefinition_{type_}-en_INT_20240101.txt": table(
            DESCRIPTION, description(30, ANAEMIA, DEFINITION, "Too little haemoglobin. ")
        ),
        f"{type_}/Terminology/sct2_Relationship_{type_}_INT_20240101.txt": table(
            RELATIONSHIP,
            is_a(40, ANAEMIA, DISEASE),
            is_a(41, DISEASE, ANAEMIA, active=0),
            is_a(42, DISEASE, ANAEMIA, type_=363698007),
        ),
        f"{type_}/Refset/Language/der2_cRefset_Language{type_}-en_INT_20240101.txt": table(
            [*member_header, "acceptabilityId"],
            member("a", US, 2, PREFERRED),
            member("b", GB, 2, PREFERRED),
            member("c", US, 4, PREFERRED),
            member("d", GB, 5, PREFERRED),
            member("e", US, 5, ACCEPTABLE, active=0),
            member("f", SPANISH, 22, PREFERRED),
            member("g", SPANISH, 21, ACCEPTABLE),
        ),
        f"{type_}/Refset/Content/der2_cRefset_Association{type_}_INT_20240101.txt": table(
            [*member_header, "targetComponentId"],
            member("h", REPLACED_BY, OLD, ANAEMIA),
            member("i", POSSIBLY, OLD, DISEASE),
            member("j", SAME_AS, 998, DISEASE),
            member("k", SAME_AS, ANAEMIA, DISEASE),
        ),
    }


def write(folder: Path, contents: dict[str, str]) -> Path:
    for place, text in contents.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(text, encoding="utf-8")
    return folder


def read(path: Path, *, problems: Problems | None = None, languages: set[str] | None = None) -> Tables:
    options = ReadOptions(languages=None if languages is None else frozenset(languages))
    return FORMAT.read(path, options=options, problems=problems or Problems())


def names(tables: Tables, concept: int) -> set[tuple[str, str, str]]:
    return {
        (row["text"], row["lang"], row["kind"])
        for row in tables.names.to_pylist()
        if row["concept_id"] == f"SNOMEDCT:{concept}"
    }


ENGLISH = {("Anemia", "en", "preferred"), ("Anaemia", "en", "exact"), ('Low "red" blood', "en", "exact")}
SPANISH_NAMES = {("hipoglobulia", "es", "preferred"), ("anemia", "es", "exact")}


def test_reads_a_release(tmp_path: Path) -> None:
    problems = Problems()
    folder = write(tmp_path / "SnomedCT_InternationalRF2", files())
    assert find_format(VOCABULARY_FORMATS, folder).name == "snomed"
    tables = read(folder, problems=problems)
    assert problems.count == 0
    concepts = {row["id"]: row for row in tables.concepts.to_pylist()}
    assert list(concepts) == [f"SNOMEDCT:{id_}" for id_ in (DISEASE, ANAEMIA, OLD, 998)]
    anaemia = concepts[f"SNOMEDCT:{ANAEMIA}"]
    assert anaemia["semantic_types"] == ["disorder"]
    assert anaemia["parents"] == [f"SNOMEDCT:{DISEASE}"]
    assert anaemia["definition"] == "Too little haemoglobin."
    assert not anaemia["obsolete"]
    assert anaemia["replaced_by"] == []
    assert concepts[f"SNOMEDCT:{DISEASE}"]["parents"] == []
    assert concepts[f"SNOMEDCT:{OLD}"]["obsolete"]
    assert concepts[f"SNOMEDCT:{OLD}"]["replaced_by"] == [f"SNOMEDCT:{ANAEMIA}"]
    assert concepts["SNOMEDCT:998"]["replaced_by"] == [f"SNOMEDCT:{DISEASE}"]
    assert names(tables, ANAEMIA) == ENGLISH | SPANISH_NAMES
    assert names(tables, OLD) == {("Thin blood", "en", "preferred")}
    assert tables.version == "20240101"


def test_a_dialect_has_names_of_its_own(tmp_path: Path) -> None:
    folder = write(tmp_path, files())
    british = read(folder, languages={"en-GB"})
    # "Anemia" is there by its fully specified name, which no reference set of the sample speaks of.
    assert names(british, ANAEMIA) == {
        ("Anaemia", "en-GB", "preferred"),
        ("Anemia", "en-GB", "exact"),
        ('Low "red" blood', "en-GB", "exact"),
    }
    american = read(folder, languages={"en-US", "es"})
    assert ("Anemia", "en-US", "preferred") in names(american, ANAEMIA)
    assert not any(text == "Anaemia" for text, _, _ in names(american, ANAEMIA))
    assert names(american, ANAEMIA) >= SPANISH_NAMES
    assert names(read(folder, languages={"en", "en-GB"}), ANAEMIA) == ENGLISH


def test_of_the_full_history_the_latest_rows_count(tmp_path: Path) -> None:
    contents = files("Full")
    place = "Full/Terminology/sct2_Description_Full-en_INT_20240101.txt"
    contents[place] += table(
        list(map(str, description(4, ANAEMIA, SYNONYM, "Anemia, an old way to put it", time=20020131))),
        description(5, ANAEMIA, SYNONYM, "Anaemia", time=20230131, active=0),
        description(9, ANAEMIA, SYNONYM, "Low red blood", time=20230131),
    )
    contents["Full/Terminology/sct2_Relationship_Full_INT_20240101.txt"] += table(
        list(map(str, is_a(40, ANAEMIA, DISEASE, time=20230131, active=0)))
    )
    tables = read(write(tmp_path, contents))
    assert names(tables, ANAEMIA) - SPANISH_NAMES == {
        ("Anemia", "en", "preferred"),
        ("Low red blood", "en", "exact"),
    }
    assert tables.concepts.to_pylist()[1]["parents"] == []


def test_a_snapshot_goes_before_the_full_history(tmp_path: Path) -> None:
    full = {place: text.replace("Low", "Once low") for place, text in files("Full").items()}
    assert names(read(write(tmp_path, files() | full)), ANAEMIA) == ENGLISH | SPANISH_NAMES


def test_a_description_file_is_read_with_what_belongs_to_it(tmp_path: Path) -> None:
    place = "Snapshot/Terminology/sct2_Description_Snapshot-en_INT_20240101.txt"
    tables = read(write(tmp_path, files()) / place)
    assert names(tables, ANAEMIA) == ENGLISH
    assert tables.concepts.to_pylist()[2]["obsolete"]


def test_a_description_file_alone_is_enough(tmp_path: Path) -> None:
    text = files()["Snapshot/Terminology/sct2_Description_Snapshot-en_INT_20240101.txt"]
    path = tmp_path / "anything"
    path.write_text(text, encoding="utf-8")
    assert find_format(VOCABULARY_FORMATS, path).name == "snomed"
    tables = read(path)
    # Nothing says which is preferred: the fully specified name is the surest.
    assert names(tables, ANAEMIA) == ENGLISH
    assert tables.concepts.to_pylist()[0]["semantic_types"] == ["disorder"]


def test_broken_rows_are_reported_where_they_stand(tmp_path: Path) -> None:
    contents = files()
    place = "Snapshot/Terminology/sct2_Relationship_Snapshot_INT_20240101.txt"
    lines = contents[place].splitlines()
    contents[place] = "\n".join([lines[0], "40\t2020\ttoo short", lines[1].replace(str(ANAEMIA), "x"), *lines[1:]])
    problems = Problems()
    tables = read(write(tmp_path, contents), problems=problems)
    assert [(problem.line, Path(problem.path).name) for problem in problems.first] == [
        (2, Path(place).name),
        (3, Path(place).name),
    ]
    assert "not a number" in problems.first[1].message
    assert tables.concepts.to_pylist()[1]["parents"] == [f"SNOMEDCT:{DISEASE}"]


def test_a_file_without_a_column_is_an_error(tmp_path: Path) -> None:
    contents = files()
    place = "Snapshot/Terminology/sct2_Relationship_Snapshot_INT_20240101.txt"
    contents[place] = contents[place].replace("destinationId", "destination")
    with pytest.raises(InputError, match="destinationid"):
        read(write(tmp_path, contents))


def test_a_folder_without_descriptions_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="description"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("sct2_Description_UKCLSnapshot-en_GB1000000_20240410.txt", "Description"),
        ("sct2_Description_MONOSnapshot-en_GB_20240410.txt", "Description"),
        ("sct2_Description_SpanishExtensionSnapshot-es_INT_20240930.txt", "Description"),
        ("xsct2_TextDefinition_Snapshot-es-419_AR1000179_20240930T120000Z.txt.gz", "TextDefinition"),
        ("sct2_Concept_UKDGSnapshot_GB1000001_20240410.txt", "Concept"),
        ("sct2_Relationship_Snapshot_US1000124_20240301.txt", "Relationship"),
        ("der2_cRefset_UKCLLanguageSnapshot-en_GB1000000_20240410.txt", "Language"),
        ("der2_cRefset_LanguageSpanishExtensionSnapshot-es_INT_20240930.txt", "Language"),
        ("der2_cRefset_AssociationReferenceUKCLSnapshot_GB1000000_20240410.txt", "Association"),
        ("sct2_RelationshipConcreteValues_Snapshot_INT_20240101.txt", None),
        ("sct2_StatedRelationship_Snapshot_INT_20240101.txt", None),
        ("der2_cRefset_AttributeValueUKCLSnapshot_GB1000000_20240410.txt", None),
        ("der2_ssRefset_ModuleDependencySnapshot_INT_20240101.txt", None),
    ],
)
def test_the_naming_convention_decides_what_a_file_holds(tmp_path: Path, name: str, content: str | None) -> None:
    folder = write(tmp_path, {"sct2_Description_Snapshot-en_INT_20240101.txt": "", name: ""})
    release = open_release(folder)
    assert [held for held, found in release.files.items() if folder / name in found] == (
        [content] if content else []
    )


def test_editions_in_one_folder_are_read_together(tmp_path: Path) -> None:
    realm, drug = 999001261000000100, 317896006
    uk = {
        "Full/Terminology/sct2_Description_UKCLFull-en_GB1000000_20240410.txt": table(
            DESCRIPTION,
            description(50, drug, FSN, "Digoxin tablet (product)", time=20200401),
            description(51, drug, SYNONYM, "Digoxin tablet", time=20200401),
            description(51, drug, SYNONYM, "Digoxin tabs", time=20220401),
            description(5, ANAEMIA, SYNONYM, "Anaemia (UK)", time=20240410),
        ),
        "Full/Refset/Language/der2_cRefset_LanguageUKCLFull-en_GB1000000_20240410.txt": table(
            "id effectiveTime active moduleId refsetId referencedComponentId acceptabilityId".split(),
            member("z", realm, 51, PREFERRED),
        ),
    }
    spanish = {
        "Snapshot/Terminology/sct2_Description_SpanishExtensionSnapshot-es_INT_20240930.txt": table(
            DESCRIPTION, description(60, DISEASE, SYNONYM, "enfermedad", lang="es")
        )
    }
    for name, contents in (("International", files()), ("UKClinical", uk), ("Spanish", spanish)):
        write(tmp_path / name, contents)
    assert find_format(VOCABULARY_FORMATS, tmp_path).name == "snomed"
    tables = read(tmp_path)
    assert tables.version == "20240930"
    assert names(tables, drug) == {("Digoxin tabs", "en", "preferred"), ("Digoxin tablet", "en", "exact")}
    assert (
        names(tables, ANAEMIA)
        == {
            ("Anemia", "en", "preferred"),
            ("Anaemia (UK)", "en", "exact"),
            ('Low "red" blood', "en", "exact"),
        }
        | SPANISH_NAMES
    )
    assert ("enfermedad", "es", "preferred") in names(tables, DISEASE)
