"""Make nymlink-nano, a student of nymlink-mini with one layer of width 256.

    python recipes/nymlink_nano.py FOLDER [--data DATA] [--names N] [--steps N] [--ship]

Everything is kept in FOLDER: the texts, the teacher's vectors (made block by block, so that an interrupted run
continues), the training, and the encoder with its float weights, ``FOLDER/nymlink-nano``. The texts are names of
open vocabularies, English words, and pieces of sentences of CRAFT.

The student has a smaller width than the teacher. It learns the teacher's vectors on their 256 strongest axes. A
tenth of the texts of a step gets a slip of a letter; its target stays the vector of the text without the slip.

With --ship, its int8 form is written into the package; then run ``recipes/ranker.py --encoder nymlink-nano`` and
``recipes/calibration.py FOLDER --encoder nymlink-nano``. Needs ``nymlink[train]``; an hour and a half on one core.
Beside other work, run it on one core (``OMP_NUM_THREADS=1``): torch's threads wait for each other.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch
from transformers import BertConfig, BertModel

from nymlink.core.files import sha256
from nymlink.core.problems import Problems
from nymlink.core.store.atomic import atomic_file
from nymlink.core.terminal import track
from nymlink.core.toml_settings import about
from nymlink.encode.encoder import Encoder
from nymlink.encode.model.folder import MINI, NANO, NANO_FOLDER, WEIGHTS, model_folder
from nymlink.encode.model.tokenizer import special_tokens
from nymlink.encode.model.torch_model import TorchModel
from nymlink.text.normalise import normalise
from nymlink.train.engine.distributed import Processes
from nymlink.train.engine.optimiser import Precision
from nymlink.train.names.encoder_training import TrainingData, TrainingSetup, train_encoder
from nymlink.vocabulary.read import read_vocabulary
from recipes.mixture import TABLES
from recipes.nymlink_mini import ship
from recipes.xl_mini.distil import DistilSettings, DistilTask, optimiser

WIDTH: Final = 256
LONGEST: Final = 32
"""Tokens of a name; more are cut."""

CAP: Final = 45_000
"""Most names of a table, drawn at random."""

GENERAL: Final = 40_000
"""Most English words, and most pieces of sentences."""

SLIPS: Final = 0.1
"""Share of the texts of a step that get a slip."""

SETTINGS: Final = {
    # The steps end it.
    "epochs": 1000,
    "learning_rate": 2e-3,
    "layers_learning_rate": 1e-3,
    "weight_decay": 0.0,
    "schedule": "linear",
    "warm_up": 0.05,
    "max_length": LONGEST,
    "checkpoint_minutes": 3.0,
}

_BLOCK: Final = 10_000


@dataclass(frozen=True, kw_only=True)
class NanoSettings(DistilSettings):
    """The settings of the training."""

    batch: int = field(default=768, metadata=about("texts in a step"))


def main() -> None:
    """Collect the texts, ask the teacher, and train; steps that are done are skipped."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of texts, vectors, training and encoder")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the data")
    parser.add_argument("--names", type=int, default=420_000, help="most texts")
    parser.add_argument("--steps", type=int, default=3000, help="steps of the training")
    parser.add_argument("--ship", action="store_true", help="write the int8 form into the package")
    arguments = parser.parse_args()
    folder: Path = arguments.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    listed = folder / "texts.json"
    if not listed.exists():
        with atomic_file(listed) as partial:
            partial.write_text(json.dumps(texts(arguments.data, arguments.names)), encoding="utf-8")
    learned: list[str] = json.loads(listed.read_text(encoding="utf-8"))
    axes, targets = teach(learned, folder)
    base = folder / "base"
    if not base.exists():
        student(axes).save(base)
    settings = NanoSettings(
        base=str(base), output=str(folder / "trained"), folder=str(folder), max_steps=arguments.steps,
        **SETTINGS,
    )  # fmt: skip
    distil(settings, learned, targets)
    TorchModel.load(folder / "trained").save(folder / NANO)
    if arguments.ship:
        ship(folder / NANO, arguments.data, NANO_FOLDER)


def texts(data: Path, most: int) -> list[str]:
    """Collect distinct prepared texts, in random order."""
    draw = random.Random(0)
    found: dict[str, None] = {}
    for table in track(TABLES, "reading"):
        vocabulary = read_vocabulary(data / "vocabularies" / f"{table}.tsv.gz", problems=Problems())
        names = vocabulary.columns.names
        english = [
            text
            for text, language in zip(names["text"].to_pylist(), names["lang"].to_pylist(), strict=True)
            if language in (None, "", "en")
        ]
        found |= dict.fromkeys(map(normalise, draw.sample(english, min(CAP, len(english)))))
    biomedical = draw.sample(list(found), min(len(found), most))
    general = dict.fromkeys(map(normalise, [*_words(data, draw), *_pieces(data, draw)]))
    everything = [text for text in dict.fromkeys([*biomedical, *general]) if text]
    draw.shuffle(everything)
    return everything


def _words(data: Path, draw: random.Random) -> list[str]:
    """Draw English words and phrases of the dictionaries."""
    words = dict[str, None]()
    for path in sorted((data / "bitext").glob("en-*.tsv.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            words |= dict.fromkeys(word for line in lines if (word := line.split("\t")[0]).isascii())
    return draw.sample(list(words), min(GENERAL, len(words)))


def _pieces(data: Path, draw: random.Random) -> Iterator[str]:
    """Draw pieces of one to six words of full texts."""
    with gzip.open(data / "curated" / "craft" / "train.jsonl.gz", "rt", encoding="utf-8") as lines:
        words = [word for line in lines for word in re.findall(r"[\w-]+", json.loads(line)["text"])]
    for _ in range(GENERAL):
        start = draw.randrange(len(words))
        yield " ".join(words[start : start + draw.randint(1, 6)])


def teach(learned: list[str], folder: Path) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float16]]:
    """Encode the texts with the teacher, and put their vectors on the strongest axes.

    Returns:
        float32 (384, 256): the axes; float16 (N, 256).
    """
    encoder, blocks = Encoder.load(MINI), folder / "vectors"
    blocks.mkdir(exist_ok=True)
    paths = []
    for start in track(range(0, len(learned), _BLOCK), "asking the teacher"):
        paths.append(blocks / f"{start}.npy")
        if not paths[-1].exists():
            with atomic_file(paths[-1]) as partial, partial.open("wb") as file:
                np.save(file, encoder.encode(learned[start : start + _BLOCK]).astype(np.float16))
    vectors = np.concatenate([np.load(path) for path in paths])
    # Vectors of texts that the teacher cannot read are not numbers.
    sample = np.nan_to_num(vectors[:100_000].astype(np.float32))
    _, axes = np.linalg.eigh(sample.T @ sample)
    strongest = np.ascontiguousarray(axes[:, ::-1][:, :WIDTH], np.float32)
    return strongest, np.nan_to_num(vectors.astype(np.float32) @ strongest).astype(np.float16)


def student(axes: npt.NDArray[np.float32]) -> TorchModel:
    """Make the untrained student; its pieces begin with the teacher's vectors of each piece alone."""
    torch.manual_seed(0)
    teacher, folder = TorchModel.load(MINI), model_folder(MINI, weights=WEIGHTS)
    size = teacher.transformer.config.vocab_size
    config = BertConfig(
        vocab_size=size,
        hidden_size=WIDTH,
        num_hidden_layers=1,
        num_attention_heads=8,
        intermediate_size=4 * WIDTH,
        max_position_embeddings=64,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    network = BertModel(config, add_pooling_layer=False)
    first, last = (teacher.tokenizer.token_to_id(token) for token in ("[CLS]", "[SEP]"))
    with torch.inference_mode():
        ids = torch.tensor([[first, piece, last] for piece in range(size)])
        alone = torch.cat([teacher(block, torch.ones_like(block)) for block in ids.split(1024)])
    pieces = torch.nn.functional.normalize(alone).clone() @ torch.from_numpy(axes)
    with torch.no_grad():
        network.embeddings.word_embeddings.weight.copy_(pieces)
        network.embeddings.position_embeddings.weight.mul_(0.1)
        network.embeddings.token_type_embeddings.weight.zero_()
    special = special_tokens(folder, teacher.tokenizer)
    return TorchModel(network, teacher.tokenizer, teacher.settings, special=special)


class Lessons:
    """Draws the texts of each step, from its number alone.

    Args:
        learned: N texts.
        settings: how many, and the seed.
    """

    def __init__(self, learned: list[str], settings: NanoSettings) -> None:
        self._learned = learned
        self._settings = settings

    def batch(self, number: int, epoch: int) -> tuple[list[str], npt.NDArray[np.int64]]:
        """Draw the texts of a step, and the rows of the vectors that they learn."""
        size, seed = self._settings.batch, self._settings.seed
        order = np.random.default_rng([seed, epoch]).permutation(len(self._learned))
        rows = order[number * size : (number + 1) * size]
        draw = random.Random(f"{seed} {epoch} {number}")
        names = [self._learned[row] for row in rows]
        return [_slip(name, draw) if draw.random() < SLIPS else name for name in names], rows

    def __len__(self) -> int:
        """Steps in which every text is drawn once."""
        return len(self._learned) // self._settings.batch


def _slip(text: str, draw: random.Random) -> str:
    """Leave out, double, exchange or replace a letter of a word of at least five letters."""
    places = list(re.finditer(r"[a-z]{5,}", text))
    if not places:
        return text
    word = draw.choice(places)
    at = draw.randrange(word.start() + 1, word.end() - 1)
    kind = draw.randrange(4)
    middle = (
        "",
        text[at] * 2,
        draw.choice(string.ascii_lowercase),
        text[at + 1] + text[at],
    )[kind]
    return text[:at] + middle + text[at + (2 if kind == 3 else 1) :]


def distil(settings: NanoSettings, learned: list[str], targets: npt.NDArray[np.float16]) -> Mapping[str, Any]:
    """Train the student, or go on with it."""

    def open_data(_scratch: Path, _problems: Problems) -> TrainingData[Any]:
        lessons = Lessons(learned, settings)

        def setup(model: TorchModel, precision: Precision, _processes: Processes) -> TrainingSetup[Any]:
            task = DistilTask(model, lessons, targets, settings, precision)
            return TrainingSetup(task, model, optimiser(model, settings))

        return TrainingData({"texts.json": {"sha256": sha256(Path(settings.folder) / "texts.json")}}, setup)

    return train_encoder("distil", settings, open_data, progress=True)


if __name__ == "__main__":
    main()
