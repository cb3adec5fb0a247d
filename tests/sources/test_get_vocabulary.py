"""From names to a vocabulary: joined, merged, on the sources' own terms, and whole where one of them fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.sources.fetch import FetchOptions
from nymlink.sources.get_vocabulary import fetch_all, get_vocabulary
from nymlink.sources.source import TABLE
from tests.sources.site import Site, answers

ONE = """\
format-version: 1.2
data-version: releases/2026-01-01

[Term]
id: ONE:1
name: heart attack
synonym: "myocardial infarction" EXACT []
alt_id: ONE:7

[Term]
id: HP:1
name: a part of another vocabulary, long out of date
alt_id: HP:7
"""
TWO = """\
format-version: 1.2
property_value: http://purl.org/dc/terms/license https://creativecommons.org/licenses/by/4.0/

[Term]
id: TWO:1
name: coronary attack

[Term]
id: ONE:1
name: heart stroke
"""
MAPPINGS = """\
#license: https://creativecommons.org/publicdomain/zero/1.0/
subject_id\tpredicate_id\tobject_id\tmapping_justification
ONE:1\tskos:exactMatch\tTWO:1\tsemapv:ManualMappingCuration
"""


def test_one_source_gives_its_own_concepts_and_says_where_they_come_from(
    site: Site, options: FetchOptions
) -> None:
    source = site.source("/one.obo", ONE, prefix="ONE:")
    vocabulary = get_vocabulary([source], options=options, problems=Problems())
    assert [concept.id for concept in vocabulary] == ["ONE:1"]
    assert [name.text for name in vocabulary.names("ONE:1")] == ["heart attack", "myocardial infarction"]
    assert (vocabulary.resolve("ONE:7"), vocabulary.resolve("HP:7")) == (("ONE:1",), ())
    [told] = vocabulary.sources
    assert (told.name, told.format, told.file) == ("one", "obo", "one.obo")
    assert (told.version, told.licence, len(told.sha256)) == ("releases/2026-01-01", "CC0-1.0", 64)
    assert vocabulary.settings["urls"] == {"one": source.url}


def test_several_are_joined_by_id_in_order(site: Site, options: FetchOptions) -> None:
    sources = [site.source("/two.obo", TWO), site.source("/one.obo", ONE, prefix="ONE:")]
    vocabulary = get_vocabulary(sources, options=options, problems=Problems())
    assert sorted(concept.id for concept in vocabulary) == ["ONE:1", "TWO:1"]
    assert vocabulary["ONE:1"].name == "heart stroke"
    assert [source.licence for source in vocabulary.sources] == [
        "https://creativecommons.org/licenses/by/4.0/",
        "CC0-1.0",
    ]


def test_mappings_among_them_merge(site: Site, options: FetchOptions) -> None:
    sources = [
        site.source("/one.obo", ONE, prefix="ONE:"),
        site.source("/two.obo", TWO, prefix="TWO:"),
        site.source("/maps.sssom.tsv", MAPPINGS, format="sssom"),
    ]
    vocabulary = get_vocabulary(sources, options=options, problems=Problems())
    assert [concept.id for concept in vocabulary] == ["ONE:1"]
    assert vocabulary.resolve("TWO:1") == ("ONE:1",)
    assert {name.text for name in vocabulary.names("ONE:1")} >= {"heart attack", "coronary attack"}
    assert set(vocabulary.settings["urls"]) == {"one", "two", "maps"}
    with pytest.raises(InputError, match="only mappings are named"):
        get_vocabulary(sources[2:], options=options, problems=Problems())


def test_one_that_fails_costs_no_other(site: Site, options: FetchOptions) -> None:
    broken = "format-version: 1.2\n\n[Typedef]\nid: part_of\n"
    sources = [
        site.source("/gone.obo", ONE),
        site.source("/broken.obo", broken),
        site.source("/foreign.obo", ONE, prefix="MONDO:"),
        site.source("/one.obo", ONE),
        site.source("/maps.sssom.tsv", "<html>", format="sssom"),
    ]
    site.troubles["/gone.obo"] += [answers(404), answers(404)]
    problems = Problems()
    vocabulary = get_vocabulary(sources, options=options, problems=problems)
    assert [source.name for source in vocabulary.sources] == ["one"]
    assert problems.rejected == 4
    gone, unread, foreign, maps = map(str, problems.first)
    assert gone.startswith(f"{site.url}/gone.obo: the server answered 404 Not Found: has the file moved?")
    assert "broken.obo: no [Term] that could be used" in unread
    assert "remove the file to have it downloaded again" in unread
    assert "no id in it begins with MONDO:" in foreign
    assert "this is an HTML page" in maps
    with pytest.raises(InputError, match="none of the vocabularies could be downloaded"):
        get_vocabulary(sources[:2], options=options, problems=problems)
    with pytest.raises(InputError, match=r"no \[Term\]"):
        get_vocabulary(sources[1:2], options=options, problems=problems)


def test_files_alone_can_be_had(site: Site, options: FetchOptions) -> None:
    sources = [site.source("/one.obo", ONE), site.source("/maps.sssom.tsv", MAPPINGS, format="sssom")]
    problems = Problems()
    files = fetch_all(sources, options=options, problems=problems)
    assert [(source.name, file.path.name) for source, file in files] == [
        ("one", "one.obo"),
        ("maps", "maps.sssom.tsv"),
    ]
    for path in ("/a.obo", "/b.obo"):
        site.troubles[path].append(answers(404))
    with pytest.raises(InputError, match="none of the sources could be downloaded"):
        fetch_all([site.source("/a.obo", ONE), site.source("/b.obo", ONE)], options=options, problems=problems)
    assert problems.rejected == 2


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("doid-es", "doid/doid-es-translated.tsv.gz"),
        ("hpo-translations", "hpo/hp-es.babelon.tsv.gz"),
        pytest.param("gard", "gard/gard.obo.gz", marks=pytest.mark.large),
        ("nando", "nando/nando.ttl.gz"),
        ("symp", "symp/symp.obo.gz"),
        ("maxo", "maxo/maxo-base.obo.gz"),
        ("uberon", "uberon/musculoskeletal.obo.gz"),
        ("cl", "cl/general_cell_types_upper_slim.obo.gz"),
        pytest.param("bto", "bto/bto.obo.gz", marks=pytest.mark.large),
        ("pato", "pato/pato.obo.gz"),
        ("cvx", "cvx/cvx.obo"),
        ("mondo-mappings", "mondo/mondo_exactmatch_doid.sssom.tsv.gz"),
        pytest.param("biomappings", "biomappings/positive.sssom.tsv.gz", marks=pytest.mark.large),
    ],
)
def test_real_files_are_what_the_table_says(
    site: Site, options: FetchOptions, data: Path, name: str, file: str
) -> None:
    [entry] = [source for source in TABLE if source.name == name]
    sent = (data / "native" / file).read_bytes()
    source = site.source(f"/{name}.obo", sent, format=entry.format, prefix=entry.prefix)
    others = [site.source("/one.obo", ONE)] if entry.is_mappings else []
    problems = Problems()
    vocabulary = get_vocabulary([source, *others], options=options, problems=problems)
    assert problems.rejected == 0
    if not others:
        assert len(vocabulary) > 50
        assert all(
            concept_id.startswith(entry.prefix) for concept_id in vocabulary.columns.concepts["id"].to_pylist()
        )
