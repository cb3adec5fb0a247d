"""Types of answers of the reconciliation service, for the description of the API.

The specifications allow further fields.
"""

from __future__ import annotations

from typing import Any, NotRequired

# Pydantic needs it before Python 3.12.
from typing_extensions import TypedDict

from nymlink.serve.answers import Reference


class Manifest(TypedDict):
    """The manifest of a reconciliation service."""

    versions: list[str]
    name: str
    identifierSpace: NotRequired[str]
    schemaSpace: NotRequired[str]
    documentation: str
    serviceVersion: str
    logo: str
    view: dict[str, str]
    defaultTypes: list[Reference]
    batchSize: int
    standardizedScore: NotRequired[bool]
    suggest: dict[str, Any]
    preview: dict[str, Any]
    extend: dict[str, Any]
    authentication: NotRequired[dict[str, str]]


class Feature(TypedDict):
    """A feature of a candidate."""

    id: str
    name: str
    value: float | bool


class ReconciliationCandidate(TypedDict):
    """A candidate of a query."""

    id: str
    name: str
    description: NotRequired[str]
    type: list[Reference]
    score: float
    features: list[Feature]
    match: bool


class ClassicResult(TypedDict):
    """The candidates of a query in version 0.2."""

    result: list[ReconciliationCandidate]
    error: NotRequired[str]


class DraftResult(TypedDict):
    """The candidates of a query in the draft of 1.0."""

    candidates: list[ReconciliationCandidate]
    error: NotRequired[str]


class DraftResults(TypedDict):
    """The candidates of each query, in order."""

    results: list[DraftResult]


class ClassicExtension(TypedDict):
    """Values of properties: concept → property → values."""

    meta: list[Reference]
    rows: dict[str, dict[str, list[dict[str, str]]]]


class PropertyValues(TypedDict):
    """The values of a property."""

    id: str
    values: list[dict[str, str]]


class DraftRow(TypedDict):
    """The values of a concept."""

    id: str
    properties: list[PropertyValues]


class DraftExtension(TypedDict):
    """Values of properties, a row for each concept."""

    meta: list[Reference]
    rows: list[DraftRow]


class Suggestion(TypedDict):
    """A suggested concept, type or property."""

    id: str
    name: str
    description: NotRequired[str]
    notable: NotRequired[list[Reference]]
    broader: NotRequired[list[Reference]]


class Suggestions(TypedDict):
    """Suggestions, best first."""

    result: list[Suggestion]


class Flyout(TypedDict):
    """A description in HTML."""

    id: str
    html: str


class ProposedProperties(TypedDict):
    """Properties of concepts of a type."""

    properties: list[Suggestion]
    type: NotRequired[str]
    limit: NotRequired[int]
