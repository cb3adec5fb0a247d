"""Average the ranker that comes with an encoder with trees that learned from what curators decided.

    python recipes/curated_ranker.py FOLDER [--encoder NAME]

``recipes/ranker.py`` wrote the ranker; it learned from diseases and phenotypes, and from names. Search by spelling
(``--encoder letters``) has no such ranker: the trees alone are its ranker. The trees learn from mentions of genes,
chemicals, species, cell lines, cells, anatomy, laboratory tests and patients' words: the sets of
``benchmarks/linking/curated_sets.py`` whose licences allow it. For each set they also learn from 60 mentions whose
concepts are hidden, and from 60 words and codes that are no names: no candidate is right.

Indexes and questions are kept in FOLDER, where ``across.py`` may have left them. Replaces the ranker beside the
folder of the encoder; afterwards ``recipes/calibration.py`` fits its confidences.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Final

from benchmarks.common.inputs import data_root, encoder_of
from benchmarks.linking.curated_sets import LEARNED_FROM, SETS, TREES, asked, folder_of, learnable, unanswerable
from nymlink.core.errors import InputError
from nymlink.core.store.atomic import atomic_file
from nymlink.core.terminal import track
from nymlink.encode.model.folder import MINI, NO_ENCODER, ranker_file
from nymlink.rank.ranker import Ranker
from nymlink.rank.trees import Trees
from nymlink.train.ranking.labelled import LabelledQuestions, learn_trees

UNLICENSED: Final = frozenset({"BC5CDR", "GSC+"})
"""Corpora without a stated licence."""


def main() -> None:
    """Learn the trees and replace the ranker."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of indexes and questions")
    parser.add_argument("--encoder", default=MINI, help="name of the installed encoder, or letters for none")
    arguments = parser.parse_args()
    encoder = encoder_of(arguments.encoder)
    file = ranker_file(encoder or NO_ENCODER)
    content = {"fingerprint": NO_ENCODER} if encoder is None else json.loads(file.read_text(encoding="utf-8"))
    former = None if encoder is None else Ranker.from_dict(content["ranker"])
    if former is not None and LEARNED_FROM in former.learned_from:
        raise InputError(
            "the ranker has learned from these mentions already: run recipes/ranker.py first", path=file
        )
    folder = folder_of(arguments.folder, arguments.encoder)
    sets = [each for each in SETS if each.corpus not in UNLICENSED]
    parts = [learnable((asked(each, arguments.encoder, folder, data_root()), frozenset()) for each in sets)]
    parts += [unanswerable(each, arguments.encoder, folder, data_root()) for each in track(sets, "asking")]
    curated = learn_trees(LabelledQuestions.joined(parts), TREES, progress=True)
    joined = Ranker(curated, LEARNED_FROM)
    if former is not None:
        joined = Ranker(Trees.mean([former.trees, curated]), f"{former.learned_from}; {LEARNED_FROM}")
    with atomic_file(file) as partial:
        content["ranker"] = joined.to_dict()
        partial.write_text(json.dumps(content, separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{joined.learned_from} → {file}")


if __name__ == "__main__":
    main()
