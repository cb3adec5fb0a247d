"""Examples of requests and answers for the API's description: the Human Phenotype Ontology, shortened."""

from __future__ import annotations

from typing import Any, Final

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
            "encoder": "nymlink-mini",
            "calibrated": True,
            "match_confidence": 0.729469,
        }
    ]
}
