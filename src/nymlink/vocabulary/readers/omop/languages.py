"""Languages of synonyms, which in OMOP are concepts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pyarrow as pa

from nymlink.vocabulary.readers.columns.groups import map_distinct
from nymlink.vocabulary.readers.omop.tables import code_column

_ENGLISH: Final = "4180186"
_LANGUAGES: Final = {
    "Arabic": "ar",
    "Chinese": "zh",
    "Czech": "cs",
    "Danish": "da",
    "Dutch": "nl",
    "English": "en",
    "Finnish": "fi",
    "French": "fr",
    "German": "de",
    "Greek": "el",
    "Hebrew": "he",
    "Hungarian": "hu",
    "Italian": "it",
    "Japanese": "ja",
    "Korean": "ko",
    "Norwegian": "no",
    "Polish": "pl",
    "Portuguese": "pt",
    "Romanian": "ro",
    "Russian": "ru",
    "Spanish": "es",
    "Swedish": "sv",
    "Thai": "th",
    "Turkish": "tr",
    "Ukrainian": "uk",
    "Vietnamese": "vi",
}


def language_concepts(table: pa.Table) -> Mapping[str, str]:
    """Map the concept_id of languages to BCP 47, whether named ``English language`` or ``English``."""
    rows = table.filter(map_distinct(code_column(table, "domain_id"), "Language".__eq__, bool))
    codes = {_ENGLISH: "en"}
    for id_, name in zip(rows["concept_id"].to_pylist(), rows["concept_name"].to_pylist(), strict=True):
        code = _LANGUAGES.get(name.removesuffix(" language"))
        if code is not None:
            codes[str(id_)] = code
    return codes
