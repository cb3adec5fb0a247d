"""What other data would add: distillation goes on with the same data, and with more.

Forms of the same names; tables that a shipped model may not learn from; words of MUSE and Wiktionary.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from nymlink.pairs.translations import read_translations
from nymlink.text.normalise import normalise
from recipes.xl_mini import data, distil

STEPS: Final = 600
"""Of distillation with each."""

SETTINGS: Final = {
    **distil.SETTINGS,
    # Half as high as before: what is known is not to be learned anew.
    "learning_rate": 5e-4,
    "layers_learning_rate": 5e-5,
}

TABLES: Final = tuple(
    f"multilingual/{table}"
    for table in (
        "icd10_ru_nsi",
        "icd10_nb",
        "icd10_pt_datasus",
        "icd10_de_gm",
        "icd10_ja_titles",
        "icdo_ru_nsi",
        "wordnet_bio_sa",
        "openehr_ckm_sa",
        "openfoodfacts_sa",
        "z_anatomy_sa",
    )
)
"""Official editions, whose terms are not open, and tables under share-alike licences."""

INFLECTED: Final = ("cs", "fi", "pl", "ru", "tr", "uk")
"""Languages whose mentions are inflected where names are not."""


def folders(folder: Path) -> dict[str, Path]:
    """List where the encoders are, by what they have learned."""
    return {f"distilled on: {name}": folder / "more" / name / "distilled" for name in _TRANSLATIONS}


def make(source: Path, folder: Path, teacher: str, *, seed: int) -> None:
    """Distil on with each, or go on with it.

    Args:
        source: vocabularies/, multilingual/ and bitext/.
        folder: that of the recipe, with the distilled encoder.
        teacher: the encoder whose vectors are learned.
        seed: of all that is drawn.
    """
    for name, translations in _TRANSLATIONS.items():
        own = folder / "more" / name
        own.mkdir(parents=True, exist_ok=True)
        if not (own / "translations.parquet").exists():
            data.write(own / "english.parquet", pq.read_table(folder / "english.parquet"))
            data.write(own / "translations.parquet", translations(source, folder, seed))
        settings = distil.DistilSettings(
            base=str(folder / "distilled"),
            output=str(own / "distilled"),
            folder=str(own),
            vectors=str(folder / "vectors"),
            seed=seed,
            max_steps=STEPS,
            **SETTINGS,
        )
        distil.distil(settings, teacher, progress=True)


def inflect(
    pairs: pa.Table, forms: Mapping[str, Mapping[str, Sequence[str]]], draw: np.random.Generator
) -> pa.Table:
    """Put a word of each name into a form drawn from those it has; names none of whose words has any are left out.

    Args:
        pairs: columns ``name`` and ``language`` among others.
        forms: language → word → its inflected forms.
        draw: chooses words and forms.
    """
    rows, inflected = [], []
    columns = (pairs[column].to_pylist() for column in ("name", "language"))
    for row, (name, language) in enumerate(zip(*columns, strict=True)):
        words, known = name.split(" "), forms.get(language, {})
        places = [place for place, word in enumerate(words) if word in known]
        if places:
            place = places[draw.integers(len(places))]
            choice = known[words[place]]
            rows.append(row)
            inflected.append(" ".join([*words[:place], choice[draw.integers(len(choice))], *words[place + 1 :]]))
    taken = pairs.take(pa.array(rows, pa.int64()))
    at = taken.schema.get_field_index("name")
    return taken.set_column(at, taken.schema.field(at), pa.array(inflected, pa.string()))


def _same(_source: Path, folder: Path, _seed: int) -> pa.Table:
    return pq.read_table(folder / "translations.parquet")


def _with_inflected(source: Path, folder: Path, seed: int) -> pa.Table:
    pairs = _same(source, folder, seed)
    forms = {language: _forms(language) for language in INFLECTED}
    return pa.concat_tables([pairs, inflect(pairs, forms, np.random.default_rng(seed))])


def _with_tables(source: Path, folder: Path, seed: int) -> pa.Table:
    own = folder / "more" / "merged"
    data.make(source, own, seed=seed, tables=(*data.TABLES, *TABLES))
    return pq.read_table(own / "translations.parquet")


def _with_words(source: Path, folder: Path, seed: int) -> pa.Table:
    """Add the words of MUSE and Wiktionary to the tables, but for names that are held out."""
    phenotypes, codes = data.held_out_concepts(source)
    kept_out = data.held_out_names(source, phenotypes | codes)
    words = dict[tuple[str, str, str], None]()
    for path in sorted((source / "bitext").glob("en-*.tsv.gz")):
        language = path.name.removeprefix("en-").partition(".")[0]
        if language in data.LANGUAGES and ".xling." not in path.name:
            pairs = read_translations(path)
            for english, word in zip(map(normalise, pairs.left), map(normalise, pairs.right), strict=True):
                if english and word and (language, word) not in kept_out:
                    words[english, word, language] = None
    lines = [("", *pair, data.WORDS) for pair in words]
    columns = [list(column) for column in zip(*lines, strict=True)]
    added = pa.table(columns, schema=data.TRANSLATIONS) if lines else data.TRANSLATIONS.empty_table()
    return pa.concat_tables([_with_tables(source, folder, seed), added])


def _forms(language: str) -> dict[str, list[str]]:
    """List the inflected forms of words, as simplemma's dictionaries have them."""
    from simplemma.strategies.dictionaries import DefaultDictionaryFactory

    forms = defaultdict[str, list[str]](list)
    for form, lemma in DefaultDictionaryFactory().get_dictionary(language).items():
        if form != lemma:
            forms[normalise(lemma)].append(normalise(form))
    return forms


_TRANSLATIONS: Final[Mapping[str, Callable[[Path, Path, int], pa.Table]]] = {
    "the same": _same,
    "and inflected forms": _with_inflected,
    "and tables that are not open": _with_tables,
    "and these and words": _with_words,
}
"""What is learned: translations, made from the data, the folder of the recipe and a seed."""
