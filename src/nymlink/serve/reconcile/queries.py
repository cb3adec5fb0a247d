"""Reconciliation queries, parsed from version 0.2 and from the draft of 1.0."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, RootModel, ValidationError, model_validator

from nymlink.core.language_codes import normalise_language
from nymlink.serve.errors import ProblemError

DEFAULT_LIMIT: Final = 10
"""Candidates of a query without a limit."""

_MOST: Final = 100
"""Most conditions of a query, values of a condition, types of a query, and properties of an extension."""

_LONGEST_KEY: Final = 40
"""Characters of the key of a query in a message."""

_MOST_FAULTS: Final = 1000
"""Most described faults: descriptions of a million bad queries would fill the memory."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on a property of candidates.

    Attributes:
        property_id: id of the property.
        values: values of the query.
        quantifier: whether a candidate should have any, all or none of them.
        required: whether to exclude candidates that fail the condition.
    """

    property_id: str
    values: tuple[str, ...]
    quantifier: Literal["any", "all", "none"] = "any"
    required: bool = False


@dataclass(frozen=True, slots=True)
class ReconciliationQuery:
    """A name to match, with types and conditions.

    Attributes:
        text: the name, or an id; empty for conditions alone.
        types: ids of the types of candidates.
        of_types: whether candidates must have any or all of these types, or only should.
        conditions: conditions on properties.
        ids: ids of the allowed concepts; empty for any.
        limit: most candidates.
        language: language code of the name; ``None`` for unknown.
    """

    text: str = ""
    types: tuple[str, ...] = ()
    of_types: Literal["any", "all", "should"] = "any"
    conditions: tuple[Condition, ...] = ()
    ids: tuple[str, ...] = ()
    limit: int = DEFAULT_LIMIT
    language: str | None = None


_Model = TypeVar("_Model", bound=BaseModel)


class _Entity(BaseModel):
    id: str
    name: str | None = None


def _as_list(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


_Few = Field(max_length=_MOST, fail_fast=True)
_Values = Annotated[list[str | bool | int | float | _Entity], _Few, BeforeValidator(_as_list)]
_Strings = Annotated[list[str], _Few, BeforeValidator(_as_list)]
# The schemas allow fractions.
_Limit = Annotated[float | None, Field(ge=1, le=1e9)]


class _ClassicProperty(BaseModel):
    pid: str
    v: _Values


class _ClassicQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    query: str | None = None
    type: _Strings = []
    type_strict: Literal["any", "all", "should"] = "any"
    limit: _Limit = None
    properties: Annotated[list[_ClassicProperty], _Few] = []

    @model_validator(mode="after")
    def _asks_for_something(self) -> _ClassicQuery:
        if self.query is None and not self.properties:
            raise ValueError("a query needs the field query or some properties")
        return self

    def parsed(self) -> ReconciliationQuery:
        return ReconciliationQuery(
            text=self.query or "",
            types=tuple(filter(None, self.type)),
            of_types=self.type_strict,
            conditions=tuple(Condition(each.pid, _strings(each.v)) for each in self.properties),
            limit=int(self.limit or DEFAULT_LIMIT),
        )


class _ClassicBatch(RootModel[dict[str, Any]]):
    pass


class _DraftCondition(BaseModel):
    matchType: Literal["name", "id", "property"]  # noqa: N815 — as the specification writes it
    propertyId: str | None = None  # noqa: N815
    propertyValue: _Values  # noqa: N815
    required: bool = False
    matchQuantifier: Literal["any", "all", "none"] = "any"  # noqa: N815
    matchQualifier: str | None = None  # noqa: N815

    @model_validator(mode="after")
    def _has_property(self) -> _DraftCondition:
        if self.matchType == "property" and self.propertyId is None:
            raise ValueError("a condition on a property needs propertyId")
        return self


class _DraftQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    type: str | None = None
    limit: _Limit = None
    lang: str | None = None
    dir: Literal["ltr", "rtl", "auto"] | None = None
    conditions: Annotated[list[_DraftCondition], Field(min_length=1, max_length=_MOST, fail_fast=True)]

    def parsed(self) -> ReconciliationQuery:
        names = [value for each in self._of("name") for value in _strings(each.propertyValue)]
        return ReconciliationQuery(
            # Further names are conditions on synonyms.
            text=names[0] if names else "",
            types=(self.type,) if self.type else (),
            conditions=(
                *(Condition("synonyms", (name,)) for name in names[1:]),
                *(
                    Condition(
                        each.propertyId or "", _strings(each.propertyValue), each.matchQuantifier, each.required
                    )
                    for each in self._of("property")
                ),
            ),
            ids=tuple(value for each in self._of("id") for value in _strings(each.propertyValue)),
            limit=int(self.limit or DEFAULT_LIMIT),
            language=None if self.lang is None else normalise_language(self.lang),
        )

    def _of(self, match_type: str) -> list[_DraftCondition]:
        return [condition for condition in self.conditions if condition.matchType == match_type]


class _DraftBatch(BaseModel):
    queries: list[Any]


def parse_classic(text: str) -> dict[str, ReconciliationQuery | str]:
    """Parse a batch of version 0.2: an object of queries, with keys of the client.

    Returns:
        The queries; of one that is invalid, what is wrong with it.

    Raises:
        ProblemError: the batch is invalid, or all its queries are.
    """
    batch = _validated(_ClassicBatch, text).root
    return dict(zip(batch, _parsed(_ClassicQuery, batch), strict=True))


def parse_draft(body: bytes) -> list[ReconciliationQuery | str]:
    """Parse a batch of the draft of version 1.0: an object with a list of queries.

    Returns:
        The queries; of one that is invalid, what is wrong with it.

    Raises:
        ProblemError: the batch is invalid, or all its queries are.
    """
    queries = _validated(_DraftBatch, body).queries
    return _parsed(_DraftQuery, {f"queries.{place}": query for place, query in enumerate(queries)})


def _parsed(
    model: type[_ClassicQuery] | type[_DraftQuery], queries: Mapping[str, Any]
) -> list[ReconciliationQuery | str]:
    found: list[ReconciliationQuery | str] = []
    faults: list[str] = []
    for key, query in queries.items():
        try:
            found.append(model.model_validate(query).parsed())
        except ValidationError as error:
            if len(faults) < _MOST_FAULTS:
                fault = _described(error)
                faults.append(f"{key[:_LONGEST_KEY]}.{fault}")
            found.append(fault)
    if faults and all(isinstance(each, str) for each in found):
        raise ProblemError(
            400, "invalid_query", "; ".join(faults[:3]), "see the specification of the version you use"
        )
    return found


class _ExtensionProperty(BaseModel):
    id: str
    settings: Mapping[str, Any] = {}


class Extension(BaseModel):
    """A query for properties of concepts (data extension)."""

    ids: Annotated[list[str], Field(fail_fast=True)]
    properties: Annotated[list[_ExtensionProperty], _Few]


def parse_extension(text: str | bytes) -> Extension:
    """Parse a query for data extension, the same in both versions.

    Raises:
        ProblemError: the query is invalid.
    """
    return _validated(Extension, text)


def _validated(model: type[_Model], text: str | bytes) -> _Model:
    """Parse and validate JSON; raise ``ProblemError`` for faults."""
    try:
        return model.model_validate(json.loads(text))
    except ValidationError as error:
        what = _described(error)
        raise ProblemError(400, "invalid_query", what, "see the specification of the version you use") from None
    except (ValueError, RecursionError) as error:
        raise ProblemError(400, "invalid_json", "this is no JSON", "send valid JSON in UTF-8") from error


def _described(error: ValidationError) -> str:
    """Describe the first faults of a query or a batch."""
    if error.error_count() > _MOST_FAULTS:
        return f"{error.error_count():,} faults"
    faults = error.errors(include_url=False, include_context=False, include_input=False)[:3]
    return "; ".join(f"{'.'.join(map(str, fault['loc'])) or 'the whole'}: {fault['msg']}" for fault in faults)


def _strings(values: Sequence[str | bool | int | float | _Entity]) -> tuple[str, ...]:
    """Write the values of a condition as texts; an entity as its id."""
    return tuple(_string(value) for value in values)


def _string(value: str | bool | int | float | _Entity) -> str:
    if isinstance(value, _Entity):
        return value.id
    return str(value).lower() if isinstance(value, bool) else str(value)
