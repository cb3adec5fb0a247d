"""The recipe of nymlink-xl-mini on tiny data: what is kept out, what the pieces mean, and that it goes on."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgpack
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import Unigram
from tokenizers.normalizers import NFKC
from tokenizers.normalizers import Sequence as Normalizers
from tokenizers.pre_tokenizers import Metaspace
from tokenizers.processors import TemplateProcessing
from tokenizers.trainers import UnigramTrainer

from nymlink.core.problems import Problems
from nymlink.encode import onnx_export
from nymlink.encode.encoder import Encoder
from nymlink.encode.model.torch_model import TorchModel
from nymlink.pairs.pair_files import PairTable
from recipes.xl_mini import (
    align,
    data,
    distil,
    evaluate,
    held_out,
    pictures,
    pieces,
    ship,
    stages,
    student,
    teachers,
    tokenizer,
    xlbel,
)
from recipes.xl_mini.stages import BY_STUDENT, STAGES, Recipe, result
from tests.encode import tiny
from tests.index.small import many_names, vocabulary

WORDS = {
    "heart": "kalb",
    "attack": "krise",
    "short": "kurz",
    "stature": "wuchs",
    "fever": "fieber",
    "origin": "quelle",
    "seizure": "anfall",
    "unknown": "fremd",
}
"""A language word for word."""


def translated(name: str) -> str:
    return " ".join(WORDS.get(word, word) for word in name.split())


NAMES = [
    f"{first} {second} {number}" for number in range(3) for first in WORDS for second in WORDS if first != second
]


def write(path: Path, rows: list[tuple[str, str, str]], xrefs: Mapping[str, str] | None = None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ["concept_id\tname\tlang\tkind\tsemantic_type\txrefs"]
    lines += [
        f"{concept}\t{name}\t{lang}\texact\tx\t{(xrefs or {}).get(concept, '')}" for concept, name, lang in rows
    ]
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables in the shape of the real ones: HPO in German, words, an edition of ICD-10 that is not open."""
    root = tmp_path_factory.mktemp("data")
    phenotypes = [(f"HP:{number:07}", name) for number, name in enumerate(NAMES)]
    rows = [*((concept, name, "en") for concept, name in phenotypes), ("HP:0000000", "another name", "en")]
    known = {concept: f"UMLS:C{number:07}" for number, (concept, _) in enumerate(phenotypes) if number < 30}
    rows += [(concept, translated(name), "de") for concept, name in phenotypes]
    write(root / "vocabularies/hpo.tsv.gz", rows, known)
    # A held-out name of HPO comes in another table, too.
    words = [(f"ILI:{number}", word) for number, word in enumerate((*WORDS, NAMES[1]))]
    rows = [(concept, word, "en") for concept, word in words]
    write(root / "multilingual/wordnet_bio_open.tsv.gz", [*rows, *((c, translated(w), "de") for c, w in words)])
    write(
        root / "multilingual/icd10_de_gm.tsv.gz", [(f"ICD10:A{n:02}", f"kurz quelle {n}", "de") for n in range(20)]
    )
    (root / "bitext").mkdir()
    for name in ("en-de", "en-de.wiktionary"):
        with gzip.open(root / f"bitext/{name}.tsv.gz", "wt", encoding="utf-8") as file:
            file.writelines(f"{word}\t{other}\n" for word, other in (("fracture", "bruch"), ("lung", "lunge")) * 9)
    queries = root / "corpora/xlbel/v1.0"
    queries.mkdir(parents=True)
    (queries / "de_test.txt").write_text(
        "".join(f"C{n:07}||{translated(NAMES[n])}||{translated(NAMES[n])}\n" for n in range(20)), encoding="utf-8"
    )
    forms = [("MANBYO:1", "発熱", "ja"), ("MANBYO:1", "熱発", "ja")]
    write(root / "multilingual/manbyo_ja.tsv.gz", forms)
    (root / "SOURCES.tsv").write_text("file\tlicence\nhpo.tsv.gz\tHPO licence\n", encoding="utf-8")
    (root / "multilingual/SOURCES.tsv").write_text(
        "file\tlicence_class\nwordnet_bio_open.tsv.gz\tCC BY\n", encoding="utf-8"
    )
    return root


@pytest.fixture(scope="module")
def recipe(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recipe]:
    folder = tmp_path_factory.mktemp("xl_mini")
    base = folder / "base"
    TorchModel.load(tiny.folder(folder / "bare"), pooling="mean").save(base)
    (folder / "words.json").write_text('["bein"]', encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluate, "FEWEST", 5)
        patch.setitem(align.SETTINGS, "batch_pairs", 16)
        patch.setattr(align, "BATCH", 16)
        patch.setattr(stages, "untrained", lambda: str(base))
        patch.setattr(teachers, "Teachers", FakeTeachers)
        patch.setattr(xlbel, "STEPS", 2)
        patch.setattr(xlbel, "LANGUAGES", ("en", "de"))
        patch.setitem(xlbel.SETTINGS, "batch_pairs", 8)
        yield Recipe(
            folder=folder,
            data=source,
            base=str(base),
            e5=str(e5(folder / "e5")),
            student="pieces",
            beside=None,
            steps=6,
            align_steps=2,
            seed=0,
        )


@pytest.fixture(scope="module")
def pairs(recipe: Recipe) -> pa.Table:
    STAGES["data"](recipe)
    return pq.read_table(recipe.folder / "translations.parquet")


def test_names_of_held_out_concepts_are_in_no_pair(source: Path, pairs: pa.Table) -> None:
    phenotypes, codes = held_out.held_out_concepts(source)
    assert "HP:0000001" in phenotypes
    assert "HP:0000000" not in phenotypes
    assert codes == {"ICD10:A09", "ICD10:A19"}
    learned = set(pairs["name"].to_pylist())
    assert translated(NAMES[0]) in learned
    assert translated(NAMES[1]) not in learned
    assert {word for word in WORDS.values() if word in learned} == set(WORDS.values())


def test_editions_that_are_not_open_are_not_learned(pairs: pa.Table) -> None:
    assert set(pairs["table"].to_pylist()) == {"hpo", "wordnet_bio_open"}
    assert not any(re.match("multilingual/icd10_(de|ru|pt|ja)|.*_sa$", table) for table in data.TABLES)


def test_surface_forms_are_synonyms_and_no_translations(recipe: Recipe, pairs: pa.Table) -> None:
    synonyms = pq.read_table(recipe.folder / "synonyms.parquet").to_pylist()
    assert {"concept": "MANBYO:1", "name1": "発熱", "name2": "熱発"} in synonyms
    assert "ja" not in pairs["language"].to_pylist()


def test_small_languages_have_a_larger_share_of_the_sample() -> None:
    names = {"en": [f"n{number}" for number in range(900)], "th": [f"t{number}" for number in range(100)]}
    drawn = list(tokenizer.sample(names, size=1000, temperature=0.5, seed=0))
    assert sum(name.startswith("t") for name in drawn) == 250
    assert set(names["th"]) <= set(drawn)


def test_the_map_takes_names_of_both_languages_to_the_vectors_of_the_english_ones() -> None:
    draw = np.random.default_rng(0)
    hidden = draw.normal(size=(2000, 8))
    vectors, wanted = hidden @ draw.normal(size=(8, 20)), hidden @ draw.normal(size=(8, 5))
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    # Least squares of a linear map, whatever the common part of all vectors.
    vectors = (vectors / 10 + 3).astype(np.float16)
    mapped = teachers.Map(vectors[:1500], wanted[:1500].astype(np.float16))(vectors[1500:])
    np.testing.assert_allclose(np.linalg.norm(mapped, axis=1), 1, atol=1e-5)
    assert ((mapped * wanted[1500:]).sum(1) > 0.95).mean() > 0.95


def test_frequent_words_are_learned_unless_they_are_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lists = tmp_path / "wordfreq" / "data"
    lists.mkdir(parents=True)
    (lists.parent / "__init__.py").touch()
    for file, words in (("large_de", ["der", "Wuchs", "kurz2"]), ("small_de", ["x"]), ("small_zh", ["的"])):
        with gzip.open(lists / f"{file}.msgpack.gz", "wb") as made:
            made.write(msgpack.packb([{"format": "cB", "version": 1}, words, ["fieber"]]))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "wordfreq", raising=False)
    assert teachers.frequent_words(["fieber"]) == ["wuchs", "的"]


def test_frequent_words_become_pieces() -> None:
    learned = tokenizer.train(["kurz wuchs", "anfall", "bein"] * 20, pieces=40)
    made = tokenizer.with_words(learned, ["fallwuchs", "жар", "beinkurz", "wuchsbein"], most=2)
    for word in ("fallwuchs", "beinkurz"):
        assert made.encode(f"bein {word}").tokens[-2] == f"▁{word}"
    assert made.encode("kurz wuchsbein").tokens == learned.encode("kurz wuchsbein").tokens


def test_texts_keep_their_pieces_when_others_are_dropped() -> None:
    texts = ["kurz wuchs", "anfall", "bein"]
    given = unigram([*texts, "жар", "fieber quelle fremd"])
    made = tokenizer.cut(given, texts, pieces=22)
    assert made.get_vocab_size() == 22 < given.get_vocab_size()
    for text in texts:
        assert made.encode(text).tokens == given.encode(text).tokens
        assert made.encode(text.upper()).tokens == made.encode(text).tokens
    assert [made.id_to_token(made.token_to_id(token)) for token in tokenizer.E5_SPECIAL.values()] == list(
        tokenizer.E5_SPECIAL.values()
    )
    assert set(given.encode("fremd").tokens) - set(made.get_vocab())


def unigram(texts: Sequence[str]) -> Tokenizer:
    """Unigram pieces with the special tokens of E5, as its tokenizer has them."""
    made = Tokenizer(Unigram())
    made.normalizer = Normalizers([NFKC()])
    made.pre_tokenizer = Metaspace()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    made.train_from_iterator(
        [*texts] * 20,
        UnigramTrainer(vocab_size=400, special_tokens=special, unk_token="<unk>", show_progress=False),
    )
    ends = [(token, made.token_to_id(token)) for token in ("<s>", "</s>")]
    made.post_processor = TemplateProcessing(single="<s> $A </s>", special_tokens=ends)
    return made


def e5(folder: Path) -> Path:
    """A model with the layers and the tokenizer of E5, of random weights."""
    made = unigram([*NAMES, *map(translated, NAMES)])
    size = made.get_vocab_size()
    tiny.transformer("bert", vocab_size=size, num_hidden_layers=12, pad_token_id=1).save_pretrained(folder)
    made.save(str(folder / "tokenizer.json"))
    config = {"cls_token": "<s>", "sep_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", "mask_token": "<mask>", **config}),
        encoding="utf-8",
    )
    return folder


class FakeTeachers:
    """A teacher that knows both languages."""

    def __init__(self, e5: str, folder: Path) -> None: ...

    def vectors(self, name: str, texts: Sequence[str]) -> npt.NDArray[np.float16]:
        english = {other: word for word, other in WORDS.items()}
        words = [[english.get(word, word) for word in text.split()] or [""] for text in texts]
        return np.stack([sum(map(self._word, text)) for text in words]).astype(np.float16)

    @staticmethod
    def _word(word: str) -> npt.NDArray[np.float64]:
        return np.random.default_rng(list(word.encode())).normal(size=24)


@pytest.mark.usefixtures("pairs")
def test_the_whole_recipe_runs_and_is_not_run_again(recipe: Recipe) -> None:
    for name in ("tokenizer", "student", "distil", "align", "evaluate"):
        STAGES[name](recipe)
    figures = result(recipe)
    measured = {row["stage"] for row in figures["hpo"]}
    made = {"base", stages.STUDENT, "distilled", "aligned", "nymlink-xl-mini", "nymlink-xl-mini, hybrid"}
    assert {"character TF-IDF", "all-MiniLM-L6-v2", *made} <= measured
    assert {"stage", "de"} == set(figures["hpo"][0])
    assert [row["language"] for row in figures["translations"]] == ["de"]
    assert [row["step"] for row in figures["distilled"]] == ["0", "6"]
    written = {path: path.stat().st_mtime_ns for path in recipe.folder.rglob("*.safetensors")}
    for name in ("data", "tokenizer", "student", "distil", "align", "evaluate"):
        STAGES[name](recipe)
    assert {path: path.stat().st_mtime_ns for path in written} == written


def test_distilled_names_are_near_the_teacher_vectors_of_their_translations(
    recipe: Recipe, pairs: pa.Table
) -> None:
    teacher, before = Encoder.load(recipe.base), Encoder.load(recipe.folder / stages.STUDENT)
    after = Encoder.load(recipe.folder / "distilled")
    wanted = teacher.encode(pairs["english"].to_pylist())
    names = pairs["name"].to_pylist()
    near = [float((encoder.encode(names) * wanted).sum(1).mean()) for encoder in (before, after)]
    assert near[1] > near[0]


@pytest.mark.large
@pytest.mark.usefixtures("pairs")
def test_pieces_learn_beside_frozen_layers_of_e5_and_a_second_encoder_is_joined(
    recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in [*recipe.folder.glob("*.parquet"), recipe.folder / "words.json"]:
        shutil.copy(path, tmp_path)
    own = replace(recipe, folder=tmp_path, student="e5", beside=recipe.folder / "base")
    monkeypatch.setattr(pieces, "STEPS", 30)
    # Int8 may change random weights by more than trained ones.
    monkeypatch.setattr(onnx_export, "_LARGEST_DROP", 1.0)
    monkeypatch.setattr(ship, "read_vocabulary", lambda _: vocabulary({n: [n, f"{n} x"] for n in many_names(300)}))
    for name in BY_STUDENT["e5"][1:]:
        STAGES[name](own)
    tokens = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    layers = student.layers_of_e5(TorchModel.load(recipe.e5), tokens)
    frozen = TorchModel.load(tmp_path / stages.PIECES).transformer.state_dict()
    for name, value in layers.transformer.state_dict().items():
        # The last layer subtracts the mean of the states.
        assert torch.equal(frozen[name], value) == (name != "encoder.layer.5.output.LayerNorm.bias"), name
    pairs = pq.read_table(tmp_path / "translations.parquet")
    rows = {name: row for row, name in enumerate(distil.english_names(tmp_path))}
    targets = np.load(tmp_path / "targets.npy")
    wanted = targets[[rows[name] for name in pairs["english"].to_pylist()]].astype(np.float32)
    names = pairs["name"].to_pylist()
    first = TorchModel.load(tmp_path / stages.STUDENT).transformer.state_dict()
    assert not torch.allclose(first["pieces.weight"], frozen["pieces.weight"], atol=1e-3)
    trained = Encoder.load(tmp_path / stages.PIECES)
    assert (trained.encode(names) * wanted).sum(1).mean() > 0.97
    joined = Encoder.load(tmp_path / stages.MIXED).encode(names)
    sums = trained.encode(names) + Encoder.load(recipe.base).encode(names)
    # The first half is the sum, turned. The second half has the states of the layers.
    shared, further = np.split(joined, [sums.shape[1]], axis=1)
    states = pieces.mean_states(layers, names)
    known = [text for name in many_names(300) for text in (name, f"{name} x")]
    mean = pieces.mean_states(layers, known).mean(axis=0)
    for found, expected in ((shared, sums), (further, states - mean)):
        cosines = [part @ part.T for part in map(at_unit_length, (found, expected))]
        assert np.abs(cosines[0] - cosines[1]).mean() < 0.05
    assert {"joined", stages.PIECES, "nymlink-xl-mini"} <= {
        *result(own),
        *(row["stage"] for row in result(own)["hpo"]),
    }
    ship.ship(tmp_path / stages.MIXED, tmp_path / "shipped")
    assert Encoder.load(tmp_path / "shipped").fingerprint == Encoder.load(tmp_path / stages.MIXED).fingerprint


def at_unit_length(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_states_are_the_means_of_single_texts_and_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layers = TorchModel.load(tiny.folder(tmp_path / "bare"), pooling="mean")
    monkeypatch.setattr(pieces, "_BLOCK", 40)
    found = pieces.states(layers, NAMES, tmp_path / "states")
    for row in (0, 39, 40, len(NAMES) - 1):
        ids = torch.tensor([layers.tokenizer.encode(NAMES[row]).ids])
        with torch.inference_mode():
            np.testing.assert_allclose(found[row], layers(ids)[0].numpy(), atol=0.01)
    monkeypatch.setattr(TorchModel, "forward", None)
    np.testing.assert_array_equal(pieces.states(layers, NAMES, tmp_path / "states"), found)


def test_the_maps_of_states_and_pieces_are_the_least_squares() -> None:
    draw = np.random.default_rng(0)
    first, known = (draw.normal(size=size).astype(np.float32) for size in ((50, 6), (9000, 6)))
    ids = [draw.integers(50, size=draw.integers(1, 5)).tolist() for _ in known]
    maps = draw.normal(size=(2, 6, 6))
    targets = np.array(
        [
            state @ maps[0] + np.mean([first[piece] for piece in own], 0) @ maps[1] + 3
            for state, own in zip(known, ids, strict=True)
        ]
    )
    model = pieces.Pieces(first)
    model.fit(known, ids, targets.astype(np.float32))
    np.testing.assert_allclose(model(torch.from_numpy(known), ids).detach().numpy(), targets, atol=0.1)


@pytest.mark.large
@pytest.mark.usefixtures("pairs")
def test_the_encoder_and_the_stages_of_the_paper_are_measured_on_xl_bel(
    recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (recipe.data / "corpora/xlbel/v1.0/en_test.txt").write_text(
        f"C0000001||{NAMES[1]}||{NAMES[1]}\n", encoding="utf-8"
    )
    for name in ("MINI", "XL_MINI"):
        monkeypatch.setattr(xlbel, name, recipe.base)
    written = tmp_path / "xlbel.json"
    choices = ["--e5", recipe.base, "--stages", "--data", str(recipe.data), "--json", str(written)]
    monkeypatch.setattr(sys, "argv", ["xlbel.py", str(recipe.folder), *choices])
    xlbel.main()
    figures = json.loads(written.read_text("utf-8"))
    names = [row["stage"] for row in figures["xlbel"]]
    assert names[:3] == ["character TF-IDF", "nymlink-mini", "multilingual-e5-small"]
    assert names[3:] == [*xlbel.STAGES, "nymlink-xl-mini", "nymlink-xl-mini, hybrid"]
    assert figures["xlbel"][0]["en"] == "100.0"
    assert figures["xlbel_covered"][1] == {
        "language": "de",
        "mentions": "20",
        "covered": "20",
        "covered, own names out": "20",
    }


@pytest.mark.usefixtures("pairs")
def test_pictures_show_held_out_names(recipe: Recipe, tmp_path: Path) -> None:
    rows = [{"stage": "base", "de": "12.0", "es": "15.0"}, {"stage": "other", "de": "1.0", "es": "2.0"}]
    pictures.draw_stages(rows, ["base"], tmp_path / "stages.svg")
    assert b"other" not in (tmp_path / "stages.svg").read_bytes()
    vocabulary = pictures.held_out_vocabulary(recipe.data)
    assert vocabulary.row("HP:0000001") is not None
    assert vocabulary.row("HP:0000002") is None


def test_speed_is_measured_by_language(recipe: Recipe) -> None:
    rows = ship.speed({"base": Encoder.load(recipe.base)}, {"de": ["kurz wuchs"], "en": ["short stature"]})
    assert [row["language"] for row in rows] == ["de", "en"]
    assert all(float(row["base"].replace(",", "")) > 0 for row in rows)


@pytest.mark.usefixtures("pairs")
def test_other_settings_are_another_training(recipe: Recipe) -> None:
    with pytest.raises(Exception, match="differs"):
        STAGES["distil"](replace(recipe, steps=7))


@pytest.mark.usefixtures("pairs")
def test_tokens_are_counted_by_language(recipe: Recipe) -> None:
    made = Tokenizer.from_file(str(recipe.folder / "tokenizer.json"))
    rows = tokenizer.report({"new": made}, {"de": ["kurz wuchs", "ж"]})
    assert rows[0]["new: unknown, %"] == "50.0"
    assert json.dumps(rows)


@pytest.mark.usefixtures("pairs")
def test_half_of_each_batch_are_neighbouring_concepts(recipe: Recipe, tmp_path: Path) -> None:
    table = PairTable.convert(
        recipe.folder / "alignment.parquet", tmp_path / "pairs.arrow", seed=0, problems=Problems()
    )
    assert 0 < len(table) == len(table) // align.BATCH * align.BATCH
    for start in range(0, len(table), align.BATCH):
        concepts = table.slice(start, start + align.BATCH, epoch=0).concepts
        assert len(set(concepts[-align.GROUP :])) == align.GROUP


def test_neighbours_are_the_nearest_rows() -> None:
    angles = np.radians(np.arange(0, 360, 10))
    vectors = np.stack([np.cos(angles), np.sin(angles)], 1).astype(np.float32)
    for group in align.neighbours(vectors, 5, np.random.default_rng(0)):
        turned = np.sort((group - group[0]) % 36)
        spans = np.diff([*turned, turned[0] + 36])
        assert sorted(spans)[:-1] == [1] * (align.GROUP - 1)
