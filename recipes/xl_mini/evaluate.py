"""What an encoder finds of the held-out concepts of HPO and ICD-10, asked in other languages than English."""

from __future__ import annotations

import csv
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from nymlink.core.problems import Problems
from nymlink.core.store.atomic import atomic_file
from nymlink.encode.encoder import Encoder
from nymlink.evaluation.outcomes import accuracy, as_array
from nymlink.index.index import Index
from nymlink.text.normalise import normalise
from nymlink.train.names.encoder_training import memoised, open_evaluations
from nymlink.train.settings.common import HeldOutCorpus
from nymlink.vocabulary.read import read_vocabulary
from recipes.xl_mini.held_out import HPO, ICD10, held_out_concepts, rows

NAMES: Final = 400
"""Names of a language that are asked."""

FEWEST: Final = 100
"""Of a language with fewer held-out names nothing is reported."""

Figures = Mapping[str, Mapping[str, float]]


def held_out_corpora(data: Path, folder: Path, *, seed: int, count: int = NAMES) -> dict[str, HeldOutCorpus]:
    """Write the names to ask and the English names to find, unless they are there, by benchmark and language.

    Args:
        data: folder of the data.
        folder: where the files are kept.
        seed: seed of the draw.
        count: largest number of names of a language.
    """
    folder.mkdir(parents=True, exist_ok=True)
    phenotypes, codes = held_out_concepts(data)
    corpora = {}
    for benchmark, tables, concepts in (("hpo", HPO, phenotypes), ("icd10", ICD10, codes)):
        dictionary = folder / f"{benchmark}.tsv"
        known = {(concept, name) for concept, language, name in rows(data, tables) if language == "en"}
        if not dictionary.exists():
            body = [("concept_id", "name", "lang", "kind"), *((*row, "en", "exact") for row in sorted(known))]
            _write(dictionary, body)
        found, english = {concept for concept, _ in known}, {normalise(name) for _, name in known}
        asked = defaultdict[str, dict[tuple[str, str], str]](dict)
        for concept, language, name in rows(data, tables):
            form = normalise(name)
            is_held_out = language != "en" and concept in concepts and concept in found
            # The French table has English names among its own, and lists of them in one cell.
            if is_held_out and form not in english and "|" not in name:
                asked[language].setdefault((concept, form), name)
        for language, names in sorted(asked.items()):
            if len(names) >= FEWEST:
                path = folder / f"{benchmark}-{language}.tsv"
                chosen = random.Random(seed).sample(sorted(names), min(count, len(names)))
                if not path.exists():
                    _write(path, [("mention", "concept_id"), *((names[key], key[0]) for key in chosen)])
                corpora[f"{benchmark} {language}"] = HeldOutCorpus(corpus=str(path), dictionary=str(dictionary))
    return corpora


def with_own_names(data: Path, folder: Path, corpora: Mapping[str, HeldOutCorpus]) -> dict[str, HeldOutCorpus]:
    """Give each language of HPO a dictionary that also has its names of the concepts that are not held out."""
    phenotypes, _ = held_out_concepts(data)
    known = sorted(set(rows(data, HPO)))
    given = {}
    for name, corpus in corpora.items():
        benchmark, _, asked = name.partition(" ")
        if benchmark == "hpo":
            path = folder / f"hpo-names-{asked}.tsv"
            own = [row for row in known if row[1] == "en" or (row[1] == asked and row[0] not in phenotypes)]
            if not path.exists():
                body = (
                    ("concept_id", "name", "lang", "kind"),
                    *((c, text, code, "exact") for c, code, text in own),
                )
                _write(path, body)
            given[name] = HeldOutCorpus(corpus=corpus.corpus, dictionary=str(path))
    return given


def vectors_alone(encoder: Encoder, corpora: Mapping[str, HeldOutCorpus]) -> Figures:
    """Measure an encoder by the nearest vectors: Acc@1 and Acc@5."""
    encode = memoised(encoder.encode)
    opened = open_evaluations(corpora, problems=Problems())
    return {name: evaluation(encode) for name, evaluation in opened.items()}


def hybrid(encoder: Encoder | None, corpora: Mapping[str, HeldOutCorpus]) -> Figures:
    """Measure an encoder by the search that an index makes by default; without one, character TF-IDF."""
    indexes: dict[str, Index] = {}
    figures = {}
    for name, corpus in corpora.items():
        if corpus.dictionary not in indexes:
            indexes[corpus.dictionary] = Index.build(read_vocabulary(Path(corpus.dictionary)), encoder=encoder)
        index = indexes[corpus.dictionary]
        with Path(corpus.corpus).open(encoding="utf-8", newline="") as file:
            _, *asked = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        matches = index.match([normalise(mention) for mention, _ in asked], 5).concepts
        gold = [index.vocabulary.row(concept) for _, concept in asked]
        ranks = as_array(
            [
                next((rank for rank, concept in enumerate(line) if concept == right), None)
                for line, right in zip(matches.tolist(), gold, strict=True)
            ]
        )
        figures[name] = {f"acc@{k}": accuracy(ranks, k) for k in (1, 5)}
    return figures


def table(stages: Mapping[str, Figures], benchmark: str) -> list[dict[str, str]]:
    """Arrange the figures of a benchmark as rows: a stage each, Acc@1 in percent by language."""
    return [
        {
            "stage": stage,
            **{
                corpus.removeprefix(f"{benchmark} "): f"{100 * measured['acc@1']:.1f}"
                for corpus, measured in figures.items()
                if corpus.startswith(f"{benchmark} ")
            },
        }
        for stage, figures in stages.items()
    ]


def _write(path: Path, lines: Iterable[tuple[str, ...]]) -> None:
    with atomic_file(path) as partial:
        partial.write_text("".join("\t".join(line) + "\n" for line in lines), encoding="utf-8")
