"""Parts shared by routes."""

from __future__ import annotations

from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from fastapi import Depends, Query, Request, Response
from pydantic import BaseModel, ConfigDict, model_validator

from nymlink.linking.judge import Judge
from nymlink.serve.errors import ProblemError, json_bytes
from nymlink.serve.guards.memory import Claim, claim_of
from nymlink.serve.guards.watch import Metrics
from nymlink.serve.serve_settings import ServeSettings
from nymlink.serve.served import ServedIndexes

LINK_REQUEST: Final[dict[str, Any]] = {"mentions": ["short stature", "siezures"], "top_k": 1}

_SEIZURES: Final[dict[str, Any]] = {
    "text": "Seizures",
    "concept_id": "HP:0001250",
    "lang": "en",
    "kind": "exact",
    "source": "hp",
}

LINK_ANSWER: Final[dict[str, Any]] = {
    "links": [
        {
            "mention": "siezures",
            "query": "seizures",
            "confidence": 0.476199,
            "nil": False,
            "guessed": True,
            "notes": ["guessed: seizures"],
            "candidates": [
                {
                    "concept_id": "HP:0001250",
                    "concept_name": "Seizure",
                    "matched": _SEIZURES,
                    "score": 1.0,
                    "parts": {"exact": 1.0, "sparse": 1.0, "dense": 1.0},
                    "contradiction": None,
                }
            ],
            "parts": [],
        }
    ]
}

ANNOTATE_REQUEST: Final[dict[str, Any]] = {"text": "Her brother had seizures; no hearing loss."}

ANNOTATE_ANSWER: Final[dict[str, Any]] = {
    "links": [
        {
            **LINK_ANSWER["links"][0],
            "start": 16,
            "end": 24,
            "mention": "seizures",
            "text": "seizures",
            "concept_id": "HP:0001250",
            "negated": False,
            "family": True,
            "hypothetical": False,
            "historical": False,
            "triggers": {"family": "brother"},
        }
    ]
}

SEARCH_ANSWER: Final[dict[str, Any]] = {
    "results": [{"concept_id": "HP:0001250", "concept_name": "Seizure", "matched": _SEIZURES}]
}

CONCEPT_ANSWER: Final[dict[str, Any]] = {
    "id": "HP:0001250",
    "name": "Seizure",
    "semantic_types": ["human_phenotype"],
    "xrefs": ["UMLS:C0036572"],
    "parents": [{"id": "HP:0012638", "name": "Abnormal nervous system physiology"}],
    "definition": "A seizure is an intermittent abnormality of nervous system physiology ...",
    "obsolete": False,
    "replaced_by": [],
    "source": "hp",
    "names": {"en": [{"text": "Seizure", "kind": "preferred"}, {"text": "Seizures", "kind": "exact"}]},
    "children": [{"id": "HP:0007359", "name": "Focal-onset seizure"}],
    "children_count": 12,
}

INDEXES_ANSWER: Final[dict[str, Any]] = {
    "indexes": [
        {
            "name": "hpo",
            "sources": [{"name": "hp", "format": "obo", "file": "hp.obo", "version": "hp/releases/2025-01-16"}],
            "concepts": 19484,
            "names": 41955,
            "languages": {"en": 41955},
            "semantic_types": {"human_phenotype": 19484},
            "parts": [{"id": "HP:0000118", "name": "Phenotypic abnormality"}],
            "encoder": "nymlink-mini",
            "calibrated": True,
            "match_confidence": 0.729469,
        }
    ],
    "judge": None,
}


IndexName = Annotated[str | None, Query(description="Name of the index; the first if not given.", max_length=200)]

_MOST_FIELDS: Final = 50


class Fields(BaseModel):
    """Fields of a request or of a part of it; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _few(cls, value: Any) -> Any:
        """Refuse a million fields at once: an error for each would fill the memory."""
        if isinstance(value, dict) and len(value) > _MOST_FIELDS:
            raise ValueError(f"{len(value):,} fields: most of them are unknown")
        return value


def indexes_of(request: Request) -> ServedIndexes:
    """The indexes of the application."""
    indexes: ServedIndexes = request.app.state.indexes
    return indexes


async def _indexes(request: Request) -> ServedIndexes:
    # A plain function would be called in a thread.
    return indexes_of(request)


async def _claim(request: Request) -> Claim:
    return claim_of(request)


Memory = Annotated[Claim, Depends(_claim)]
Indexes = Annotated[ServedIndexes, Depends(_indexes)]


def settings_of(request: Request) -> ServeSettings:
    """The settings of the application."""
    settings: ServeSettings = request.app.state.settings
    return settings


def judge_of(request: Request) -> Judge | None:
    """Get the judge of the application; ``None`` if it has none."""
    judge: Judge | None = request.app.state.judge
    return judge


def metrics_of(request: Request) -> Metrics:
    """The metrics of the application."""
    metrics: Metrics = request.app.state.metrics
    return metrics


def base_url(request: Request) -> str:
    """Address of the application for browsers, without a slash at the end."""
    return (settings_of(request).public_url or str(request.base_url)).rstrip("/")


def is_own_origin(request: Request, origin: str) -> bool:
    """Whether an origin is this server, by its ``Host`` or its public address."""
    return origin.partition("://")[2] in (request.headers.get("host"), urlsplit(base_url(request)).netloc)


async def _same_site(request: Request) -> None:
    """Raise ``ProblemError`` for a change by a page of another site that is not allowed."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    # Older browsers send only the origin.
    is_own = origin is None or is_own_origin(request, origin) if site is None else site in ("none", "same-origin")
    if request.method == "GET" or is_own:
        return
    allowed = settings_of(request).origins
    if "*" not in allowed and origin not in allowed:
        what = "a page of another site may change nothing here"
        raise ProblemError(403, "other_site", what, "see --allow-origin of nymlink serve")


SAME_SITE: Final = Depends(_same_site)
"""Lets pages of this server, and of sites that are allowed to, change something."""


def require_at_most(code: str, name: str, size: int, most: int, *, status: int = 413) -> None:
    """Raise ``ProblemError`` for a request beyond a limit."""
    if size > most:
        raise ProblemError(status, code, f"{size:,} {name}; the limit is {most:,}", "send less at a time")


def json_answer(value: Any, *, status: int = 200) -> Response:
    """Answer with JSON of valid values, without another check."""
    return Response(json_bytes(value), status, media_type="application/json")
