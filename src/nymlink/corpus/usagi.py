"""The columns of Usagi's review file: what its reader and its writer share.

Usagi (https://github.com/OHDSI/Usagi) maps codes of a source to standard concepts of OMOP. Its file has a row for
each code and target, the rows of a code one after the other; concept 0 is none.
"""

from __future__ import annotations

from typing import Final

BEFORE: Final = ("sourceCode", "sourceName", "sourceFrequency", "sourceAutoAssignedConceptIds")
"""Columns before those of the user."""
ADDITIONAL: Final = "ADD_INFO:"
"""Prefix of columns of the user."""
AFTER: Final = (
    "matchScore",
    "mappingStatus",
    "equivalence",
    "statusSetBy",
    "statusSetOn",
    "conceptId",
    "conceptName",
    "domainId",
    "mappingType",
    "comment",
    "createdBy",
    "createdOn",
    "assignedReviewer",
)
"""Columns after those of the user."""

NO_CONCEPT: Final = "0"
OMOP: Final = "OMOP:"
"""Prefix of the ids of OMOP concepts in an index."""
