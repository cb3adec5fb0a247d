"""The component of a spaCy pipeline, on a blank one with rules for entities."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from spacy.language import Language
from spacy.tokens import Doc, DocBin

import spacy
from nymlink.core.errors import StoreError
from nymlink.index.index import Index
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary

TEXTS = ["Ünder 𝔘: heart attack and qqqq.", "A myocardial infarction (MI). MI!", "", "Nothing."]
EXPECTED = [
    [("heart attack", "X:1"), ("qqqq", "")],
    [("myocardial infarction", "X:1"), ("MI", "X:1"), ("MI", "X:1")],
    [],
    [],
]


def vocabulary() -> Vocabulary:
    builder = TableBuilder()
    for id_, name in (("X:1", "myocardial infarction"), ("X:1", "heart attack"), ("X:2", "mitral insufficiency")):
        builder.concept(id_)
        builder.name(id_, name)
    return Vocabulary.of((Source("x", "table"), builder.build()))


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("spacy") / "index"
    Index.build(vocabulary(), encoder=None).save(folder)
    return folder


def pipeline(index: Path, **config: object) -> Language:
    nlp = spacy.blank("en")
    patterns = [
        {"label": "DISEASE", "pattern": [{"LOWER": word} for word in name.split()]}
        for name in ("heart attack", "qqqq", "myocardial infarction", "mi")
    ]
    nlp.add_pipe("entity_ruler").add_patterns(patterns)
    nlp.add_pipe("nymlink", config={"index": str(index), **config})
    return nlp


def found(docs: list[Doc]) -> list[list[tuple[str, str]]]:
    return [[(ent.text, ent.kb_id_) for ent in doc.ents] for doc in docs]


def test_entities_are_linked(index: Path) -> None:
    nlp = pipeline(index)
    docs = list(nlp.pipe(TEXTS))
    assert found(docs) == found([nlp(text) for text in TEXTS]) == EXPECTED
    link, nil = (ent._.nymlink for ent in docs[0].ents)
    assert (link["mention"], link["start"], link["candidates"][0]["concept_id"]) == ("heart attack", 9, "X:1")
    assert nil["nil"]
    assert json.loads(json.dumps(link)) == link
    assert {ent.label_ for ent in docs[0].ents} == {"DISEASE"}
    # An abbreviation that the document defines.
    assert docs[1].ents[2]._.nymlink["query"] == "myocardial infarction"


SCRIPT = """
import sys
import spacy

nlp = spacy.blank("en")
nlp.add_pipe("entity_ruler").add_patterns([{"label": "D", "pattern": "heart attaks"}])
nlp.add_pipe("nymlink", config={"index": sys.argv[1]})
texts = ["Two heart attaks.", "Nothing."] * 4
alone = [[(ent.text, ent.kb_id_) for ent in nlp(text).ents] for text in texts]
together = [[(ent.text, ent.kb_id_) for ent in doc.ents] for doc in nlp.pipe(texts, n_process=2, batch_size=2)]
assert together == alone == [[("heart attaks", "X:1")], []] * 4, together
"""


@pytest.mark.large
def test_several_processes_find_the_same(tmp_path: Path) -> None:
    # With an encoder, whose threads a process that is forked does not have. In a process of its own, with an end.
    Index.build(vocabulary(), encoder="nymlink-mini").save(tmp_path / "index")
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "index")]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=100, check=False)
    assert done.returncode == 0, done.stderr


def test_a_pipeline_is_written_and_read(index: Path, tmp_path: Path) -> None:
    pipeline(index, top_k=2).to_disk(tmp_path / "pipeline")
    nlp = spacy.load(tmp_path / "pipeline")
    doc = nlp(TEXTS[0])
    assert found([doc]) == EXPECTED[:1]
    blank = pipeline(index).from_disk(tmp_path / "pipeline")
    assert found([blank(TEXTS[0])]) == EXPECTED[:1]
    moved = spacy.load(tmp_path / "pipeline", config={"components": {"nymlink": {"index": str(tmp_path / "no")}}})
    with pytest.raises(StoreError, match="no such index"):
        moved(TEXTS[0])


def test_documents_are_kept_with_their_links(index: Path) -> None:
    nlp = pipeline(index)
    kept = DocBin(store_user_data=True, docs=nlp.pipe(TEXTS)).to_bytes()
    docs = list(DocBin().from_bytes(kept).get_docs(spacy.blank("en").vocab))
    assert found(docs) == EXPECTED
    assert docs[0].ents[0]._.nymlink["candidates"][0]["concept_id"] == "X:1"


def test_entities_that_are_linked_already_keep_what_is_not_found(index: Path) -> None:
    nlp = pipeline(index)
    doc = nlp.make_doc("qqqq")
    doc.ents = [doc.char_span(0, 4, "DISEASE", kb_id="Q1")]
    (ent,) = nlp.get_pipe("nymlink")(doc).ents
    assert (ent.kb_id_, ent._.nymlink["nil"]) == ("Q1", True)
