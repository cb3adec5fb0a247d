"""Ontologies in syntaxes that are not read are told, with the command that converts them."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.contract.vocabulary_samples import SAMPLES

from nymlink.core.errors import InputError
from nymlink.vocabulary.read import describe_syntax, open_vocabulary, read_vocabulary

SYNTAXES = {
    "OWL in Manchester syntax": [
        "Prefix: : <http://x.org/>\nPrefix: rdfs: <http://www.w3.org/2000/01/rdf-schema#>\n\n"
        'Ontology: <http://x.org/o>\n\nClass: <http://x.org/X_1>\n    Annotations: rdfs:label "heart attack"@en\n',
        "Ontology: <http://x.org/o>\nClass: <http://x.org/X_1>\n",
    ],
    "OWL/XML": [
        '<?xml version="1.0"?>\n<Ontology xmlns="http://www.w3.org/2002/07/owl#"\n'
        '     ontologyIRI="http://x.org/o">\n    <Declaration><Class IRI="#X_1"/></Declaration>\n</Ontology>\n'
    ],
    "KRSS": ["(define-primitive-concept HeartAttack Disease)\n(implies MI HeartAttack)\n"],
    "JSON-LD": [
        '{\n "@context": {"skos": "http://www.w3.org/2004/02/skos/core#"},\n "@graph": []\n}\n',
        '[{"@id": "x"}]\n',
    ],
}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in SYNTAXES.items() for text in texts])
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_a_syntax_that_is_not_read_is_named_with_a_command(
    tmp_path: Path, name: str, text: str, *, packed: bool
) -> None:
    path = tmp_path / ("my onto.x.gz" if packed else "my onto.x")
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    tool = "riot --output=turtle" if name == "JSON-LD" else "robot convert --input"
    output = f"> '{tmp_path}/my onto'.ttl" if name == "JSON-LD" else f"--output '{tmp_path}/my onto'.owl"
    for read in (read_vocabulary, open_vocabulary):
        with pytest.raises(InputError) as caught:
            read(path)
        assert f"{name} is not supported: convert it with" in str(caught.value)
        assert f"`{tool} '{path}' {output}`" in str(caught.value)


@pytest.mark.parametrize("name", SAMPLES)
def test_what_is_read_is_none_of_them(name: str) -> None:
    assert describe_syntax(Path("x"), SAMPLES[name].text) is None


@given(st.text())
def test_any_text_is_described_or_not(text: str) -> None:
    assert describe_syntax(Path("x.y"), text) is None or "convert" in str(describe_syntax(Path("x.y"), text))


@pytest.mark.parametrize(
    "text", ["<Ontology " + "a " * 50_000, "{" + " " * 100_000, "\n" * 50_000, "<Ontology " * 800]
)
def test_long_lines_take_time_in_proportion(text: str) -> None:
    describe_syntax(Path("x"), text)
