"""Measure single changes of the recipe of nymlink-mini, on a small budget.

    python recipes/choices.py FOLDER [--base MODEL] [--data DATA] [--only NAME ...] [--json FILE]

Each encoder is trained by the recipe with one change, on 38,400 pairs (larger batches at twice the rate), and not
averaged with its base. It is measured by its vectors on the training and development mentions of NCBI
disease and BC5CDR disease, with bare MEDIC: Acc@1/@5, prepared queries, by name. No test set is read. Each is
trained with one seed; those of the whole recipe differ by 0.2 points or so. Everything is kept in FOLDER: the same
command goes on where it was interrupted. Needs ``nymlink[train]``; some minutes for the pairs and five for each
change, on two cores.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from nymlink.core.files import sha256
from nymlink.core.problems import Problems
from nymlink.core.store.atomic import atomic_file
from nymlink.encode.encoder import Encoder
from nymlink.pairs.pairs import PAIRS
from nymlink.text.normalise import normalise
from nymlink.train.names.encoder_training import memoised, open_evaluations
from nymlink.train.names.pair_trainings import train_sap
from nymlink.train.settings.common import HeldOutCorpus
from nymlink.train.settings.encoder_trainings import SapSettings
from nymlink.vocabulary.vocabulary import Vocabulary
from recipes import mixture, siblings
from recipes.diseases import MEDIC, unpacked
from recipes.nymlink_mini import SETTINGS

STEPS: Final = 150
"""Training steps of :data:`BATCH` pairs."""

BATCH: Final = 256


def misspelt(workspace: Workspace) -> pa.Table:
    """Misspell one name in a tenth of the recipe's pairs: a letter doubled, missing, or swapped with the next."""
    draw = random.Random(0)
    concepts, left, right = (column.to_pylist() for column in workspace.pairs("recipe").columns)
    right = [_misspelt(name, draw) if draw.random() < 0.1 else name for name in right]
    return pa.table([concepts, left, right], schema=PAIRS)


def _misspelt(name: str, draw: random.Random) -> str:
    at = draw.randrange(max(len(name) - 1, 1))
    changed = draw.choice((name[:at] + name[at + 1 :], name[: at + 1] + name[at:], _swapped(name, at)))
    return normalise(changed) or name


def _swapped(name: str, at: int) -> str:
    return name[:at] + name[at : at + 2][::-1] + name[at + 2 :]


@dataclass(frozen=True)
class Choice:
    """Change of the recipe: how pairs are made (as in the recipe if ``None``), and settings."""

    make: Callable[[Workspace], pa.Table] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


def in_families(workspace: Workspace) -> pa.Table:
    """Select as many of the recipe's pairs as the steps take, siblings in the same batch."""
    known = siblings.families(workspace.data, workspace.vocabulary())
    return siblings.in_families(workspace.pairs("recipe"), known, batches=STEPS, size=BATCH)


def mixed(**arguments: Any) -> Choice:
    """Make the recipe's pairs with other arguments."""
    return Choice(lambda workspace: mixture.mixture(workspace.vocabulary(), **arguments))


CHOICES: Final[Mapping[str, Choice]] = {
    "recipe": mixed(),
    "no modifiers": mixed(modified=0.0),
    "fifty pairs a concept": mixed(cap=50),
    "no related names": mixed(kinds=["preferred", "exact", "abbreviation", "tradename"]),
    "misspelt names": Choice(misspelt),
    "siblings together": Choice(in_families),
    "first token": Choice(settings={"pooling": "cls"}),
    "batches of 1,024 pairs": Choice(
        settings={"batch_pairs": 4 * BATCH, "max_steps": STEPS // 4, "learning_rate": 8e-5}
    ),
    "InfoNCE": Choice(settings={"loss": "infonce"}),
    "no mining": Choice(settings={"mining": False}),
    "margin 0.1": Choice(settings={"margin": 0.1}),
    "half the learning rate": Choice(settings={"learning_rate": 2e-5}),
    "twice the learning rate": Choice(settings={"learning_rate": 8e-5}),
}


class Workspace:
    """Folder that keeps all pairs, encoders and figures.

    Args:
        folder: path of the folder.
        data: folder of vocabularies and corpora.
        base: the model that every training starts from.

    Raises:
        SystemExit: the folder holds figures of another base or recipe.
    """

    def __init__(self, folder: Path, data: Path, base: str) -> None:
        self._folder = folder
        self.data = data
        self._base = base
        folder.mkdir(parents=True, exist_ok=True)
        recipe = {"base": base, "steps": STEPS, "mixture": sha256(Path(mixture.__file__)), "settings": SETTINGS}
        kept_recipe = _read_or_make(folder / "made_of.json", lambda: recipe)
        if kept_recipe != recipe:
            raise SystemExit(f"{folder}: holds figures of {kept_recipe}, not of {recipe}: choose another folder")
        self._splits = unpacked(data, folder / "corpora")

    def figures(self, name: str) -> dict[str, Any]:
        """Get the figures of an encoder with this change, trained and measured once."""
        output = str(self._path(name, ""))
        if not self._path(name, ".json").exists():
            source = name if CHOICES[name].make else "recipe"
            self.pairs(source)
            pairs = str(self._path(source, ".parquet"))
            settings = {**SETTINGS, "max_steps": STEPS, "batch_pairs": BATCH, **CHOICES[name].settings}
            train_sap(SapSettings(pairs=pairs, base=self._base, output=output, **settings), progress=True)
        return self.measured(name, output)

    def measured(self, name: str, encoder: str) -> dict[str, Any]:
        """Get the figures of an encoder, measured once."""
        dictionary = str(self.data / MEDIC)
        held_out = {
            f"{split.parent.name} {split.name}": HeldOutCorpus(corpus=str(split), dictionary=dictionary)
            for split in self._splits
        }

        def measure() -> dict[str, Any]:
            encode = memoised(Encoder.load(encoder, backend="torch").encode)
            return {
                split: evaluate(encode)
                for split, evaluate in open_evaluations(held_out, problems=Problems()).items()
            }

        return _read_or_make(self._path(name, ".json"), measure)

    def pairs(self, name: str) -> pa.Table:
        """Get the pairs of a choice, made once."""
        path, make = self._path(name, ".parquet"), CHOICES[name].make
        if not path.exists() and make is not None:
            table = make(self)
            with atomic_file(path) as partial:
                pq.write_table(table, partial)
        return pq.read_table(path, schema=PAIRS)

    def vocabulary(self) -> Vocabulary:
        """Get all tables as one vocabulary, merged once."""
        path = self._path("merged", "")
        if not path.exists():
            mixture.merged(self.data).save(path)
        return Vocabulary.load(path)

    def _path(self, name: str, suffix: str) -> Path:
        return self._folder / f"{name.replace(' ', '-').replace(',', '')}{suffix}"


def _read_or_make(file: Path, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Read a JSON file, which is written first if it is missing."""
    if not file.exists():
        content = make()
        with atomic_file(file) as partial:
            partial.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    kept: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return kept


def text(result: Mapping[str, Mapping[str, Mapping[str, float]]]) -> str:
    """Format a Markdown table: for each encoder Acc@1/@5 of each corpus, and their mean."""
    corpora = list(next(iter(result.values())))
    lines = [["", *corpora, "mean"], ["---", *["---:"] * (len(corpora) + 1)]]
    for name, kept in result.items():
        # The file of an earlier run may have the corpora in another order.
        by_corpus = {corpus: kept[corpus] for corpus in corpora}
        mean = {at: statistics.mean(figures[at] for figures in by_corpus.values()) for at in ("acc@1", "acc@5")}
        lines.append(
            [
                name,
                *("/".join(f"{100 * value:.1f}" for value in row.values()) for row in (*by_corpus.values(), mean)),
            ]
        )
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    """Train and measure the encoders that are missing, and print all figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of pairs, encoders and figures")
    parser.add_argument(
        "--base", default="sentence-transformers/all-MiniLM-L6-v2", help="model that every training starts from"
    )
    parser.add_argument(
        "--data", type=Path, default=Path("../shared/data"), help="folder with corpora/, vocabularies/ and native/"
    )
    parser.add_argument("--only", action="append", choices=list(CHOICES), help="train only this one; repeatable")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    workspace = Workspace(arguments.folder.resolve(), arguments.data.resolve(), arguments.base)
    result = {"base": workspace.measured("base", arguments.base)}
    for name in arguments.only or CHOICES:
        result[name] = workspace.figures(name)
    print(text(result))
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
