"""Write OMOP's table source_to_concept_map (Common Data Model 5.4), its lengths of fields kept."""

from __future__ import annotations

import csv
import re
import warnings
from typing import Final, TextIO

from nymlink.linking.model import Candidate
from nymlink.linking.writers.mappings.omop_concepts import OmopConcept, omop_concept, require_omop
from nymlink.linking.writers.mappings.term_writer import Term, TermWriter
from nymlink.linking.writers.writer import LinkFormat, LinksInfo

_COLUMNS: Final = (
    "source_code",
    "source_concept_id",
    "source_vocabulary_id",
    "source_code_description",
    "target_concept_id",
    "target_vocabulary_id",
    "valid_start_date",
    "valid_end_date",
    "invalid_reason",
)
_LONGEST_CODE: Final = 50
_LONGEST_NAME: Final = 20
_LONGEST_DESCRIPTION: Final = 255
_ALWAYS: Final = ("1970-01-01", "2099-12-31", "")
"""When a mapping is valid, as Usagi writes it."""
_NONE: Final = OmopConcept("0", "", "None")
"""What OMOP maps a code to that has no concept."""


class SourceToConceptMapWriter(TermWriter):
    """Writes a row for each term and the best concept of each of its parts.

    A term whose code is too long is left out, as a shortened code is another one; a description is shortened. Both
    are counted in a warning.
    """

    def __init__(self, out: TextIO, info: LinksInfo) -> None:
        super().__init__(info)
        require_omop(info.vocabulary, format="source-to-concept-map")
        self._out = csv.writer(out, lineterminator="\n")
        self._vocabulary = info.vocabulary
        name = re.sub(r"\W+", "_", info.title, flags=re.ASCII).strip("_").upper()
        self._source = name[:_LONGEST_NAME] or "NYMLINK"
        self._out.writerow(_COLUMNS)

    def write_terms(self, terms: list[Term]) -> None:
        fitting = [term for term in terms if len(term.code) <= _LONGEST_CODE]
        for term in fitting:
            description = term.name[:_LONGEST_DESCRIPTION]
            # Several parts may mean the same concept.
            concepts = dict.fromkeys(self._concept_of(each.candidate) for each in term.best)
            for concept in concepts or (_NONE,):
                row = (term.code, "0", self._source, description, concept.id, concept.vocabulary, *_ALWAYS)
                self._out.writerow(row)
        shortened = sum(len(term.name) > _LONGEST_DESCRIPTION for term in fitting)
        if len(fitting) < len(terms):
            first = next(term.code for term in terms if len(term.code) > _LONGEST_CODE)
            warnings.warn(
                f"{len(terms) - len(fitting):,} terms were left out, as source_code has room for {_LONGEST_CODE} "
                f"characters (the first is {first[:_LONGEST_CODE]!r}…): name a column of codes with "
                "--map-column code=NAME",
                stacklevel=3,
            )
        if shortened:
            warnings.warn(
                f"{shortened:,} descriptions were shortened to {_LONGEST_DESCRIPTION} characters", stacklevel=3
            )

    def _concept_of(self, candidate: Candidate) -> OmopConcept:
        return omop_concept(candidate, self._vocabulary, format="source-to-concept-map")


FORMAT = LinkFormat(
    name="source-to-concept-map",
    description="OMOP's source_to_concept_map (CSV), CDM 5.4",
    open=SourceToConceptMapWriter,
    ignores=frozenset({"--top-k"}),
)
