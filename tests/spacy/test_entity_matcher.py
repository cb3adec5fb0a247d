"""The component that finds entities, in a blank pipeline."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from spacy.language import Language
from spacy.tokens import Doc, DocBin

import spacy
from nymlink.core.errors import InputError, StoreError
from tests.annotation.toy import built_index

TEXTS = [
    "𝔘 No seizures, but cysts of the kidney.",
    "",
    "Nothing.",
    "A post-seizure state, short and broad thumbs.",
]
EXPECTED = [
    [("seizures", "P:5"), ("cysts of the kidney", "P:16")],
    [],
    [],
    [("seizure", "P:5"), ("short and broad thumbs", "P:3")],
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("spacy") / "index"
    built_index().save(folder)
    return folder


def pipeline(index: Path, **config: object) -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("nymlink_matcher", config={"index": str(index), **config})
    return nlp


def found(docs: list[Doc]) -> list[list[tuple[str, str]]]:
    return [[(ent.text, ent.kb_id_) for ent in doc.ents] for doc in docs]


def test_names_are_found_and_linked(index: Path) -> None:
    nlp = pipeline(index)
    docs = list(nlp.pipe(TEXTS))
    assert found(docs) == found([nlp(text) for text in TEXTS]) == EXPECTED
    seizures, cysts = (ent._.nymlink for ent in docs[0].ents)
    assert (seizures["start"], seizures["text"], seizures["concept_id"]) == (5, "seizures", "P:5")
    assert (seizures["negated"], cysts["negated"], seizures["confidence"]) == (True, False, 0.8)
    assert json.loads(json.dumps(seizures)) == seizures
    assert {ent.label_ for ent in docs[0].ents} == {"CONCEPT"}


def test_settings_say_what_is_found(index: Path) -> None:
    nlp = pipeline(index, label="PHENOTYPE", branch=["P:1"], flags=[])
    (ent,) = nlp(TEXTS[0]).ents
    assert (ent.text, ent.label_, ent._.nymlink["negated"]) == ("cysts of the kidney", "PHENOTYPE", False)
    assert found([pipeline(index, min_confidence=0.99)(TEXTS[0])]) == [[]]
    with pytest.raises(InputError, match="'P:99' is no concept"):
        pipeline(index, ids=["P:99"])(TEXTS[0])


def test_entities_that_are_there_stay(index: Path) -> None:
    nlp = pipeline(index)
    doc = nlp.make_doc(TEXTS[0])
    doc.ents = [doc.char_span(2, 13, "MINE", kb_id="Q1")]
    nlp.get_pipe("nymlink_matcher")(doc)
    assert [(ent.text, ent.label_, ent.kb_id_) for ent in doc.ents] == [
        ("No seizures", "MINE", "Q1"),
        ("cysts of the kidney", "CONCEPT", "P:16"),
    ]


def test_a_mention_within_a_token_is_the_token(index: Path) -> None:
    nlp = pipeline(index)
    doc = nlp(Doc(nlp.vocab, words=["post-seizure", "state"], spaces=[True, False]))
    (ent,) = doc.ents
    assert (ent.text, ent._.nymlink["start"], ent._.nymlink["text"]) == ("post-seizure", 5, "seizure")


def test_a_pipeline_is_written_and_read(index: Path, tmp_path: Path) -> None:
    pipeline(index, branch=["P:1"]).to_disk(tmp_path / "pipeline")
    nlp = spacy.load(tmp_path / "pipeline")
    assert found([nlp(TEXTS[0])]) == [EXPECTED[0][1:]]
    blank = pipeline(index).from_disk(tmp_path / "pipeline")
    assert found([blank(TEXTS[0])]) == EXPECTED[:1]
    moved = {"components": {"nymlink_matcher": {"index": str(tmp_path / "no")}}}
    with pytest.raises(StoreError, match="no such index"):
        spacy.load(tmp_path / "pipeline", config=moved)(TEXTS[0])


def test_documents_are_kept_with_their_links(index: Path) -> None:
    kept = DocBin(store_user_data=True, docs=pipeline(index).pipe(TEXTS)).to_bytes()
    docs = list(DocBin().from_bytes(kept).get_docs(spacy.blank("en").vocab))
    assert found(docs) == EXPECTED
    assert docs[0].ents[0]._.nymlink["triggers"] == {"negated": "No"}


SCRIPT = """
import sys
import spacy

nlp = spacy.blank("en")
nlp.add_pipe("nymlink_matcher", config={"index": sys.argv[1]})
texts = ["Two seizures.", "Nothing."] * 4
alone = [[(ent.text, ent.kb_id_) for ent in nlp(text).ents] for text in texts]
together = [[(ent.text, ent.kb_id_) for ent in doc.ents] for doc in nlp.pipe(texts, n_process=2, batch_size=2)]
assert together == alone == [[("seizures", "P:5")], []] * 4, together
"""


@pytest.mark.large
def test_several_processes_find_the_same(index: Path) -> None:
    command = [sys.executable, "-c", SCRIPT, str(index)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=100, check=False)
    assert done.returncode == 0, done.stderr
