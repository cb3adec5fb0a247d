"""Measure dictionaries that have names in the language of the mentions for some concepts only.

    python -m benchmarks.languages.mixed FOLDER [--encoder NAME ...] [--data DATA] [--json FILE]

The dictionary has the English names of HPO, and names in one other language of every second concept. Mentions are
names in this language:

- *without*: of concepts that have no name in it in the dictionary. Half of the held-out names were used to choose
  settings; the other half is measured.
- *slips*: names in the dictionary with a letter left out or two letters exchanged (Japanese: a kana left out);
- *other*: other names of concepts that have a name in it.

FOLDER keeps the dictionaries, indexes and vectors. The JSON file is written anew after each language.
"""

from __future__ import annotations

import argparse
import csv
import random
import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.common.inputs import LETTERS, encoder_of
from benchmarks.common.report import publish, table
from nymlink.encode.cached_vectors import EmbeddingCache
from nymlink.encode.model.folder import XL_MINI
from nymlink.index.index import Index
from nymlink.index.languages import deductions_of_entries
from nymlink.linking.pipeline import Pipeline
from nymlink.rank.retrieval import Question
from nymlink.text.normalise import normalise
from nymlink.vocabulary.read import read_vocabulary
from recipes.xl_mini.evaluate import held_out_corpora, with_own_names
from recipes.xl_mini.held_out import HPO, held_out_concepts, rows

WITHOUT: Final = "without"
"""Mentions of concepts without a name in the language of the mention."""

MENTIONS: Final = 100
"""Most mentions of the kinds *slips* and *other* in a language."""

_FEWEST: Final = 50

Asked = tuple[str, str, str | None]
"""Mention, concept, and a name that the dictionary must not have for this mention."""


def main() -> None:
    """Measure and print, and write where a file is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--encoder", nargs="+", default=[LETTERS, XL_MINI])
    parser.add_argument("--language", nargs="+", help="of the mentions; all without it")
    parser.add_argument("--choose", action="store_true", help="ask the half that settings are chosen with")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    corpora = held_out_corpora(arguments.data, arguments.folder, seed=0)
    mixed = with_own_names(arguments.data, arguments.folder, corpora)
    languages = arguments.language or [name.split()[1] for name in mixed]
    lines: dict[tuple[str, str, str], dict[str, str]] = defaultdict(dict)
    for done, language in enumerate(languages, 1):
        corpus = mixed[f"hpo {language}"]
        for encoder in arguments.encoder:
            whole = _index(arguments.folder, Path(corpus.dictionary), encoder)
            english = _index(arguments.folder, Path(corpora[f"hpo {language}"].dictionary), encoder)
            kinds = mentions(arguments.data, whole, language, Path(corpus.corpus), choose=arguments.choose)
            asked = {kind: own for kind, own in kinds.items() if len(own) >= _FEWEST}
            right = {(kind, "English names alone"): _right(english, own) for kind, own in asked.items()}
            right |= {(kind, "default"): _right(whole, own) for kind, own in asked.items()}
            # From here on, names in all languages count alike.
            whole.once(deductions_of_entries)[:] = 0
            right |= {(kind, "all names count alike"): _right(whole, own) for kind, own in asked.items()}
            for (kind, way), of_mentions in right.items():
                lines[encoder, kind, way][language] = f"{100 * np.mean(of_mentions):.1f}"
        header = ["encoder", "mentions", "names", *languages[:done]]
        body = [[*key, *(own.get(each, "–") for each in languages[:done])] for key, own in sorted(lines.items())]
        parts = [[row for row in body if (row[1] == WITHOUT) == wanted] for wanted in (True, False)]
        text = "\n\n".join(table(header, part) for part in parts)
        print(text, flush=True)
        publish(
            arguments.json,
            text,
            ["without", "with"],
            data="HPO, names in nine languages",
            split="concepts held out of training (without); others (slips, other)",
            dictionary="English names, and names in the language of every second concept",
            counting="Acc@1 by concept, vectors and letters",
            encoder=", ".join(arguments.encoder),
            seed=0,
        )


def mentions(data: Path, index: Index, language: str, held_out: Path, *, choose: bool) -> dict[str, list[Asked]]:
    """Draw the mentions of each kind in a language."""
    phenotypes, _ = held_out_concepts(data)
    with held_out.open(encoding="utf-8", newline="") as file:
        _, *lines = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
    draw = random.Random(0)
    names = defaultdict[str, list[str]](list)
    for concept, code, name in rows(data, HPO):
        form = normalise(name)
        if code == language and concept not in phenotypes and "|" not in name and form not in names[concept]:
            names[concept].append(form)
    known = sorted((concept, name) for concept, own in names.items() for name in own)
    slips = [(with_slip(name, draw), concept, None) for concept, name in draw.sample(known, min(len(known), 300))]
    others = [(own[1], concept, own[1]) for concept, own in sorted(names.items()) if len(own) > 1]
    return {
        WITHOUT: [(normalise(name), concept, None) for name, concept in lines[0 if choose else 1 :: 2]],
        "slips": [(name, *rest) for name, *rest in slips if name and index.entries.find(name) is None][:MENTIONS],
        "other": draw.sample(others, min(len(others), MENTIONS)),
    }


def with_slip(name: str, draw: random.Random) -> str | None:
    """Leave a letter out of a name, or exchange two; ``None`` if that cannot be done."""
    kana = [place.start() for place in re.finditer("[\u3041-\u309f\u30fc]", name)]
    if re.search("[\u3041-\u9fff]", name):
        return name[: (at := draw.choice(kana))] + name[at + 1 :] if kana else None
    inside = [place.start() + 1 for place in re.finditer(r"(?<=[^\W\d_])[^\W\d_](?=[^\W\d_]{4})", name)]
    if not inside:
        return None
    at = draw.choice(inside)
    return name[:at] + (name[at + 1 :] if draw.random() < 0.5 else name[at + 1] + name[at] + name[at + 2 :])


def _index(folder: Path, dictionary: Path, encoder: str) -> Index:
    directory = folder / f"index-{encoder}-{dictionary.stem}"
    if not directory.exists():
        cache = EmbeddingCache(folder / "vectors")
        Index.build(
            read_vocabulary(dictionary),
            encoder=encoder_of(encoder),
            cache=cache,
            directory=directory,
        )
    return Index.load(directory)


def _right(index: Index, asked: Sequence[Asked]) -> list[bool]:
    """Ask an index as a linker does, with its ranker if it has one."""
    without = [[] if gone is None else _rows(index, gone) for *_, gone in asked]
    ranked = Pipeline(index).match([Question(mention) for mention, *_ in asked], 1, without=without)
    return _agree(index, ranked.matches.concepts[:, 0].tolist(), asked)


def _rows(index: Index, name: str) -> list[int]:
    row = index.entries.find(name)
    return [] if row is None else [row]


def _agree(index: Index, found: Sequence[int], asked: Sequence[Asked]) -> list[bool]:
    return [row == index.vocabulary.row(concept) for row, (_, concept, _) in zip(found, asked, strict=True)]


if __name__ == "__main__":
    main()
