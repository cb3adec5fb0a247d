"""Make nymlink-mini, the encoder that comes with nymlink.

    python recipes/nymlink_mini.py FOLDER [--base MODEL] [--data DATA] [--seed N] [--ship]

Everything is kept in FOLDER: the pairs, the training, which goes on where it was interrupted, and the encoder with
its float weights, ``FOLDER/nymlink-mini``. Another seed draws other pairs, in another order, and wants a FOLDER of
its own. With --ship, its int8 form is written into the package; then run ``recipes/ranker.py`` and
``recipes/teach.py``, its second stage. Needs ``nymlink[train]``; about half an hour on two cores.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

import pyarrow.parquet as pq

from nymlink.core.files import sha256
from nymlink.core.store.atomic import atomic_file
from nymlink.encode.model.average import average
from nymlink.encode.model.folder import MINI, installed
from nymlink.encode.onnx_export import export
from nymlink.train.names.pair_trainings import train_sap
from nymlink.train.settings.encoder_trainings import SapSettings
from nymlink.vocabulary.read import read_vocabulary
from recipes import mixture

SETTINGS: Final = {
    "learning_rate": 4e-5,
    "schedule": "linear",
    "warm_up": 0.05,
    "max_steps": 1150,
    "shared_names": "ignore",
}

SHARE: Final = 0.75
"""Weight of the trained weights in their average with the base's (WiSE-FT, Wortsman et al. 2022), which keeps the
base's meaning of words that vocabularies do not have."""


def main() -> None:
    """Make the pairs, train and write the encoder; steps that are done are skipped."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of pairs, training and encoder")
    parser.add_argument(
        "--base", default="sentence-transformers/all-MiniLM-L6-v2", help="model that the training starts from"
    )
    parser.add_argument(
        "--data", type=Path, default=Path("../shared/data"), help="folder with vocabularies/ and native/"
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="seed of the pairs and of their order; the shipped model has 0"
    )
    parser.add_argument("--ship", action="store_true", help="write the int8 form into the package")
    arguments = parser.parse_args()
    folder: Path = arguments.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    target = shipped() if arguments.ship else None
    seed: int = arguments.seed
    # The digest, since another mixture makes other pairs.
    pairs = folder / f"pairs-{sha256(Path(mixture.__file__))[:8]}-{seed}.parquet"
    if not pairs.exists():
        with atomic_file(pairs) as partial:
            pq.write_table(mixture.mixture(mixture.merged(arguments.data), seed=seed), partial)
    trained = folder / "trained"
    settings = SapSettings(pairs=str(pairs), base=arguments.base, output=str(trained), seed=seed, **SETTINGS)
    train_sap(settings, progress=True)
    average([trained, arguments.base], weights=[SHARE, 1 - SHARE]).save(folder / MINI)
    if target is not None:
        ship(folder / MINI, arguments.data, target)


def shipped() -> Path:
    """Find the folder of nymlink-mini in the package, or end where it is not installed."""
    target = installed(MINI)
    if target is None:
        sys.exit(f"{MINI} is not installed: there is no folder to write to")
    return target


def ship(weights: Path, data: Path, target: Path) -> None:
    """Write the int8 form of float weights into a folder of the package, and print what int8 costs."""
    checked_with = read_vocabulary(data / "vocabularies" / "doid.tsv.gz")
    card = target / "README.md"
    text = card.read_text(encoding="utf-8")
    # An export replaces only folders without other files, and the model card is one.
    card.unlink()
    try:
        print(export(weights, target, precision="int8", vocabulary=checked_with))
    finally:
        card.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
