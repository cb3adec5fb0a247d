"""From texts to links with contexts; what is looked for; other detectors."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from nymlink.annotation.annotator import Annotator
from nymlink.annotation.annotator_settings import AnnotatorSettings
from nymlink.annotation.detector_plugins import LONGEST, HuggingFaceDetector, SpacyDetector, segments_of
from nymlink.annotation.detectors import DetectedFinder, open_detector
from nymlink.annotation.matcher import open_matcher
from nymlink.core.errors import InputError, UnknownNameError
from nymlink.corpus.documents import Document, Mention
from nymlink.index.index import Index
from nymlink.linking.link import Context
from nymlink.linking.linker import Linker
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.restriction import Restriction
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary
from tests.annotation.toy import built_index, pairs, the_annotator
from tests.encode import tiny


def annotator(**settings: Any) -> Annotator:
    return Annotator(built_index(), AnnotatorSettings(**settings))


def test_a_text_gives_links() -> None:
    [link, other] = the_annotator().annotate("No seizures, but renal cysts.")
    assert (link.mention, link.best.concept_id, link.confidence) == (Mention("seizures", 3, 11), "P:5", 0.8)  # type: ignore[union-attr]
    assert link.context == Context(negated="No")
    assert other.context == Context()
    values = link.to_dict()
    assert (values["text"], values["concept_id"], values["negated"]) == ("seizures", "P:5", True)
    assert values["triggers"] == {"negated": "No"}
    assert link.notes == ("negated: No",)


def test_documents_come_with_their_links() -> None:
    documents = [Document(str(number), f"{number} seizures") for number in range(200)]
    annotated = list(the_annotator().annotate_documents(iter(documents)))
    assert [document for document, _ in annotated] == documents
    assert all(links[0].document_id == document.id for document, links in annotated)
    assert the_annotator().annotate("") == []
    assert list(the_annotator().annotate_documents([])) == []


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(InputError, match="a list is no text"):
        the_annotator().annotate(["seizures"])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("restriction", "expected"),
    [
        (Restriction(branch=("P:1",)), [("renal anomalies", "P:1"), ("renal cysts", "P:16")]),
        (Restriction(ids=("P:05",)), [("Seizures", "P:5")]),
        (Restriction(types=("Modifier",)), []),
        (Restriction(branch=("P:1",), ids=("P:16",)), [("renal cysts", "P:16")]),
    ],
)
def test_what_is_looked_for_is_restricted(restriction: Restriction, expected: list[tuple[str, str]]) -> None:
    text = "Seizures, renal anomalies and renal cysts."
    assert pairs(annotator(restriction=restriction).annotate(text)) == expected


@pytest.mark.parametrize(
    ("restriction", "message"),
    [
        (Restriction(types=("gene",)), "no semantic type 'gene'"),
        (Restriction(sources=("meta",)), "no source 'meta'.*there are: toy"),
        (Restriction(branch=("P:16",), ids=("P:5",)), "nothing is left"),
    ],
)
def test_what_there_is_not_is_said(restriction: Restriction, message: str) -> None:
    with pytest.raises(InputError, match=message):
        annotator(restriction=restriction)


def test_ids_that_there_are_not_are_said() -> None:
    with pytest.raises(InputError, match="'P:99' is no concept of the index; did you mean P:"):
        annotator(restriction=Restriction(ids=("P:99",)))


def test_long_texts_are_read_in_segments() -> None:
    text = "Renal cysts.\n" * (3 * LONGEST // 13)
    segments = list(segments_of(text))
    assert "".join(segment for _, segment in segments) == text
    assert all(text[offset:].startswith(segment[:20]) for offset, segment in segments)
    links = the_annotator().annotate(text)
    assert len(links) == text.count("\n")
    assert all(text[link.mention.start : link.mention.end] == link.mention.text for link in links)


def test_a_matcher_is_kept_in_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NYMLINK_CACHE", str(tmp_path / "cache"))
    built_index().save(tmp_path / "index")
    built = Annotator.load(tmp_path / "index").annotate("renal cysts")
    [kept] = (tmp_path / "cache" / "matchers").iterdir()
    assert Annotator.load(tmp_path / "index").annotate("renal cysts") == built
    # Damage is noticed: it is built anew.
    (kept / "rows.npy").write_bytes(b"damaged")
    assert open_matcher(Index.load(tmp_path / "index"), language="en").find("renal cysts")


def test_a_matcher_is_of_the_release_that_was_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NYMLINK_CACHE", str(tmp_path / "cache"))
    for concept in ("A:1", "B:1"):
        builder = TableBuilder()
        builder.concept("A:0")
        builder.name("A:0", "cold", kind="preferred")
        builder.concept(concept)
        builder.name(concept, "renal cyst", kind="preferred")
        vocabulary = Vocabulary.of((Source("toy", "test"), builder.build()))
        former = Index.load(tmp_path / "index") if concept == "B:1" else None
        Index.build(vocabulary, encoder=None).save(tmp_path / "index")
        if former is not None:
            [link] = Annotator(former).annotate("renal cyst")
            assert [each.concept_id for each in link.candidates] == ["A:1"]
    [link] = Annotator.load(tmp_path / "index").annotate("renal cyst")
    assert [each.concept_id for each in link.candidates] == ["B:1"]
    # Languages without rules and names share a matcher.
    for language in ("aa", "ab-x1", "eo"):
        Annotator.load(tmp_path / "index", AnnotatorSettings(language=language)).annotate("cold")
    assert len([*(tmp_path / "cache" / "matchers").iterdir()]) == 3
    monkeypatch.setattr("nymlink.annotation.matcher._KEPT", 1)
    Annotator.load(tmp_path / "index", AnnotatorSettings(language="de")).annotate("cold")
    [kept] = (tmp_path / "cache" / "matchers").iterdir()
    assert kept.name.endswith("-de")


def test_settings_can_be_handed_to_another_process() -> None:
    settings = AnnotatorSettings(restriction=Restriction(ids=("P:5",)), flags=("negated",))
    assert pickle.loads(pickle.dumps(settings)) == settings
    with pytest.raises(ValueError, match="no flag 'hopeful'"):
        AnnotatorSettings(flags=("hopeful",))
    with pytest.raises(ValueError, match="min_confidence must be from 0 to 1"):
        AnnotatorSettings(min_confidence=2)


def test_mentions_that_documents_come_with_are_linked() -> None:
    document = Document("1", "No renal cyst.", (Mention("renal cyst", 3, 13),))
    [link] = annotator(detector="given").annotate(document)
    assert (link.best.concept_id, link.context) == ("P:16", Context(negated="No"))  # type: ignore[union-attr]


@dataclass(frozen=True)
class Capitals:
    """A detector of words in capitals."""

    def detect(self, texts: list[str]) -> list[tuple[Mention, ...]]:
        return [(Mention(text[:4], 0, 4),) if text[:4].isupper() else () for text in texts]


def test_any_detector_will_do() -> None:
    finder = DetectedFinder(Linker(built_index()), Capitals(), 0.0)
    found = finder.find([Document("1", "CYST"), Document("2", "none")])
    assert [[link.mention.text for link in links] for links in found] == [["CYST"], []]


@pytest.mark.parametrize("name", ["magic", "spacy:", "magic:model"])
def test_detectors_that_there_are_not_are_said(name: str) -> None:
    with pytest.raises(UnknownNameError, match="there are dictionary, given, hf:NAME and spacy:NAME"):
        annotator(detector=name)


def test_a_pipeline_of_spacy_detects(tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy")
    pipeline = spacy.blank("en")
    pipeline.add_pipe("entity_ruler").add_patterns([{"label": "FINDING", "pattern": "renal cyst"}])
    pipeline.to_disk(tmp_path / "pipeline")
    detector = SpacyDetector.load(str(tmp_path / "pipeline"))
    assert detector.detect(["a renal cyst", "none"]) == [(Mention("renal cyst", 2, 12, "FINDING"),), ()]
    found = Annotator(built_index(), AnnotatorSettings(detector=f"spacy:{tmp_path / 'pipeline'}")).annotate(
        "a renal cyst"
    )
    assert pairs(found) == [("renal cyst", "P:16")]
    with pytest.raises(InputError, match="no pipeline 'nothing' of spaCy"):
        SpacyDetector.load("nothing")


def test_entities_of_hugging_face_have_offsets_in_the_whole_text() -> None:
    def pipeline(text: str) -> list[dict[str, Any]]:
        start = text.find("cyst")
        return [{"start": start, "end": start + 4, "entity_group": "FINDING"}] if start >= 0 else []

    text = "x " * LONGEST + "a cyst"
    [[mention], []] = HuggingFaceDetector(pipeline).detect([text, " "])
    assert (mention.text, mention.start, mention.type) == ("cyst", len(text) - 4, "FINDING")


def test_phrases_need_confidences() -> None:
    with pytest.raises(InputError, match="not calibrated"):
        annotator(fuzzy=True)


@pytest.mark.large
def test_a_model_of_hugging_face_reads_texts_longer_than_its_positions(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    tiny.folder(tmp_path / "base", max_position_embeddings=64)
    config = transformers.AutoConfig.from_pretrained(tmp_path / "base")
    config.id2label = {0: "O", 1: "B-Disease", 2: "I-Disease"}
    transformers.AutoModelForTokenClassification.from_config(config).save_pretrained(tmp_path / "model")
    transformers.AutoTokenizer.from_pretrained(tmp_path / "base").save_pretrained(tmp_path / "model")
    text = "heart attack " * 100
    [mentions] = open_detector(f"hf:{tmp_path / 'model'}").detect([text])
    assert all(text[mention.start : mention.end] == mention.text for mention in mentions)
    with pytest.raises(InputError, match="no token-classification model"):
        open_detector(f"hf:{tmp_path / 'nothing'}")


def test_a_concept_is_found_once_in_the_same_words() -> None:
    builder = TableBuilder()
    builder.concept("Q:1")
    for name in ("Aged facial appearance", "Prematurely aged face"):
        builder.name("Q:1", name, lang="en", kind="exact")
    twice = Annotator(Index.build(Vocabulary.of((Source("q", "test"), builder.build())), encoder=None))
    links = twice.annotate("Peculiar facial appearance, and premature aging.")
    places = [(link.mention.start, link.mention.end) for link in links]
    assert places
    assert len(set(places)) == len(places)


@pytest.mark.parametrize(
    ("language", "name", "text", "found"),
    [
        ("es", "Hendidura de paladar", "Niega tos; hendiduras del paladar derecho.", "hendiduras del paladar"),
        ("fr", "Kyste rénal", "Présence de kystes rénaux.", "kystes rénaux"),
        (
            "de",
            "Globale Entwicklungsverzögerung",
            "Mit globaler Entwicklungsverzögerung.",
            "globaler Entwicklungsverzögerung",
        ),
        ("it", "Distacco di retina", "Un distacco della retina.", "distacco della retina"),
        ("pt", "Infecção urinária", "Infecções urinárias.", "Infecções urinárias"),
        ("nl", "Calcium niersteen", "Nierstenen van calcium.", "Nierstenen van calcium"),
        ("eo", "Infekto", "Infektoj.", ""),  # no rules
        ("de-AT", "Kleine Niere", "Mit kleinen Nieren.", "kleinen Nieren"),
        ("GER", "Kleine Niere", "Mit kleinen Nieren.", "kleinen Nieren"),
        ("ko", "고혈압", "고혈압, 고형암 환자", "고혈압"),
        ("ko", "천식", "천식 환자", "천식"),
        ("tr", "inme", "İnme geçirdi.", "İnme"),
        ("tr", "ısı intoleransı", "ISI INTOLERANSI", "ISI INTOLERANSI"),
        ("ru", "Отёк лица", "Отек лица.", "Отек лица"),
    ],
)
def test_inflected_names_of_other_languages(language: str, name: str, text: str, found: str) -> None:
    builder = TableBuilder()
    builder.concept("T:1")
    builder.name("T:1", name, lang=language, kind="preferred")
    index = Index.build(Vocabulary.of((Source("toy", "test"), builder.build())), encoder=None)
    links = Annotator(index, AnnotatorSettings(language=language)).annotate(text)
    assert [link.mention.text for link in links] == ([found] if found else [])


def test_without_a_language_words_are_themselves() -> None:
    builder = TableBuilder()
    builder.concept("T:1")
    for name in ("Ekzem am Augenlid", "renal cyst"):
        builder.name("T:1", name, lang="und", kind="exact")
    index = Index.build(Vocabulary.of((Source("toy", "test"), builder.build())), encoder=None)
    for language in (None, "any"):
        links = Annotator(index, AnnotatorSettings(language=language)).annotate("Ekzem am Augenlid, renal cysts.")
        assert [link.mention.text for link in links] == ["Ekzem am Augenlid"]


def test_a_language_is_a_code() -> None:
    with pytest.raises(InputError, match="'deutsch' is no language code"):
        AnnotatorSettings(language="deutsch")


def test_the_language_of_each_text_is_detected() -> None:
    builder = TableBuilder()
    builder.concept("T:1")
    for language, name in (("en", "renal cyst"), ("es", "quiste renal"), ("fr", "kyste rénal")):
        builder.name("T:1", name, lang=language, kind="exact")
    index = Index.build(Vocabulary.of((Source("toy", "test"), builder.build())), encoder=None)
    texts = {
        "es": "La paciente niega fiebre y no tiene quistes renales.",
        "en": "The patient denies fever; there are no renal cysts.",
        "fr": "La patiente n'a pas de kystes rénaux à l'échographie.",
    }
    detecting = Annotator(index, AnnotatorSettings(language="auto"))
    together = dict(detecting.annotate_documents([Document(code, text) for code, text in texts.items()]))
    assert [document.id for document in together] == list(texts)
    for (document, links), code in zip(together.items(), texts, strict=True):
        assert detecting.language_of_text(document.text) == code
        assert links == list(Annotator(index, AnnotatorSettings(language=code)).annotate(document))
        assert [link.context.flags["negated"] for link in links if link.context] == [True]
    # There are no German names; the denials are German.
    german = "Der Patient hat keine Beschwerden und kein Fieber, aber keine renal cyst in der linken Niere."
    [link] = detecting.annotate(german)
    assert (link.mention.text, link.context) == ("renal cyst", Context(negated="keine"))
    # Too short to tell.
    assert detecting.language_of_text("CT") == "en"
