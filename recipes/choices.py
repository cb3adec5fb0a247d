"""What single changes of the recipe of nymlink-mini give, on a small budget.

    python recipes/choices.py FOLDER [--base MODEL] [--data DATA] [--only NAME ...] [--json FILE]

Each encoder is trained as the recipe has it but for one thing, on 38,400 pairs (larger batches at twice the rate),
and not averaged with its base. It is measured by its vectors on the training and development mentions of NCBI
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

import mixture
import siblings
from calibration import MEDIC, unpacked
from nymlink.core.files import sha256
from nymlink.core.problems import Problems
from nymlink.core.store.atomic import atomic_file
from nymlink.encode.encoder import Encoder
from nymlink.pairs.pairs import PAIRS
from nymlink.text.normalise import normalise
from nymlink.train.names.encoder_evaluation import memoised, open_evaluations
from nymlink.train.names.sap import train_sap
from nymlink.train.settings.common import HeldOutCorpus
from nymlink.train.settings.recipes import SapSettings
from nymlink.vocabulary.vocabulary import Vocabulary
from nymlink_mini import SETTINGS

STEPS: Final = 150
"""Of :data:`BATCH` pairs."""

BATCH: Final = 256


def misspelt(place: Workplace) -> pa.Table:
    """The recipe's pairs, one of their names with a letter too many, too few or in the wrong place, one in ten."""
    draw = random.Random(0)
    concepts, ones, others = (column.to_pylist() for column in place.pairs("recipe").columns)
    others = [_misspelt(name, draw) if draw.random() < 0.1 else name for name in others]
    return pa.table([concepts, ones, others], schema=PAIRS)


def _misspelt(name: str, draw: random.Random) -> str:
    at = draw.randrange(max(len(name) - 1, 1))
    changed = draw.choice((name[:at] + name[at + 1 :], name[: at + 1] + name[at:], _turned(name, at)))
    return normalise(changed) or name


def _turned(name: str, at: int) -> str:
    return name[:at] + name[at : at + 2][::-1] + name[at + 2 :]


@dataclass(frozen=True)
class Choice:
    """What is done in another way: the pairs (as in the recipe if ``None``), the settings."""

    make: Callable[[Workplace], pa.Table] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


def in_families(place: Workplace) -> pa.Table:
    """Of the recipe's pairs, as many as are learned from, siblings in the same batch."""
    known = siblings.families(place.data, place.vocabulary())
    return siblings.in_families(place.pairs("recipe"), known, batches=STEPS, size=BATCH)


def mixed(**other: Any) -> Choice:
    """The recipe's way to make pairs, with other arguments."""
    return Choice(lambda place: mixture.mixture(place.vocabulary(), **other))


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


class Workplace:
    """The folder that everything is kept in.

    Args:
        folder: where it is.
        data: vocabularies and corpora.
        base: what all begin with.

    Raises:
        SystemExit: it holds what came of another base or recipe.
    """

    def __init__(self, folder: Path, data: Path, base: str) -> None:
        self._folder = folder
        self.data = data
        self._base = base
        folder.mkdir(parents=True, exist_ok=True)
        asked = {"base": base, "steps": STEPS, "mixture": sha256(Path(mixture.__file__)), "settings": SETTINGS}
        before = _kept(folder / "made_of.json", lambda: asked)
        if before != asked:
            raise SystemExit(f"{folder}: holds figures of {before}, not of {asked}: choose another folder")
        self._splits = unpacked(data, folder / "corpora")

    def figures(self, name: str) -> dict[str, Any]:
        """What an encoder with this change is worth, trained and measured once."""
        output = str(self._path(name, ""))
        if not self._path(name, ".json").exists():
            source = name if CHOICES[name].make else "recipe"
            self.pairs(source)
            pairs = str(self._path(source, ".parquet"))
            settings = {**SETTINGS, "max_steps": STEPS, "batch_pairs": BATCH, **CHOICES[name].settings}
            train_sap(SapSettings(pairs=pairs, base=self._base, output=output, **settings), progress=True)
        return self.measured(name, output)

    def measured(self, name: str, encoder: str) -> dict[str, Any]:
        """The figures of an encoder, measured once."""
        dictionary = str(self.data / MEDIC)
        held_out = {
            f"{split.parent.name} {split.name}": HeldOutCorpus(corpus=str(split), dictionary=dictionary)
            for split in self._splits
        }

        def measure() -> dict[str, Any]:
            encode = memoised(Encoder.load(encoder, backend="torch").encode)
            return {split: one(encode) for split, one in open_evaluations(held_out, problems=Problems()).items()}

        return _kept(self._path(name, ".json"), measure)

    def pairs(self, name: str) -> pa.Table:
        """The pairs of a choice, made once."""
        path, make = self._path(name, ".parquet"), CHOICES[name].make
        if not path.exists() and make is not None:
            made = make(self)
            with atomic_file(path) as partial:
                pq.write_table(made, partial)
        return pq.read_table(path, schema=PAIRS)

    def vocabulary(self) -> Vocabulary:
        """All tables as one vocabulary, merged once."""
        path = self._path("merged", "")
        if not path.exists():
            mixture.merged(self.data).save(path)
        return Vocabulary.load(path)

    def _path(self, name: str, suffix: str) -> Path:
        return self._folder / f"{name.replace(' ', '-').replace(',', '')}{suffix}"


def _kept(file: Path, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What is in a file, made if it is not there."""
    if not file.exists():
        made = make()
        with atomic_file(file) as partial:
            partial.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def text(result: Mapping[str, Mapping[str, Mapping[str, float]]]) -> str:
    """A Markdown table: for each encoder Acc@1/@5 of each corpus, and their mean."""
    corpora = list(next(iter(result.values())))
    lines = [["", *corpora, "mean"], ["---", *["---:"] * (len(corpora) + 1)]]
    for name, kept in result.items():
        # What was kept by another run may have its corpora in another order.
        found = {corpus: kept[corpus] for corpus in corpora}
        mean = {at: statistics.mean(one[at] for one in found.values()) for at in ("acc@1", "acc@5")}
        lines.append(
            [name, *("/".join(f"{100 * value:.1f}" for value in one.values()) for one in (*found.values(), mean))]
        )
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    """Train and measure what is not there yet, and show it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where everything is kept")
    parser.add_argument("--base", default="sentence-transformers/all-MiniLM-L6-v2", help="what all begin with")
    parser.add_argument(
        "--data", type=Path, default=Path("../shared/data"), help="corpora/, vocabularies/, native/"
    )
    parser.add_argument("--only", action="append", choices=list(CHOICES), help="this one; repeatable")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    place = Workplace(arguments.folder.resolve(), arguments.data.resolve(), arguments.base)
    result = {"base": place.measured("base", arguments.base)}
    for name in arguments.only or CHOICES:
        result[name] = place.figures(name)
    print(text(result))
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
