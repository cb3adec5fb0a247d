"""The official JSON schemas of the reconciliation API, and their examples."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonschema import Draft7Validator


@cache
def validator(folder: Path, version: str, name: str) -> Draft7Validator:
    """The validator of a schema, ``"manifest"`` for example; they refer to each other by several ids."""
    # Imported here: what they import takes seconds, in each process that collects tests.
    from jsonschema import Draft7Validator
    from referencing import Registry, Resource
    from referencing.jsonschema import DRAFT7

    schemas = {
        path.name: json.loads(path.read_text(encoding="utf-8"))
        for path in (folder / version / "schemas").glob("*.json")
    }
    base = f"https://reconciliation-api.github.io/specs/{version}/schemas/"
    draft = base.replace(version, "draft")
    ids: dict[str, Resource[Any]] = {}
    for file, schema in schemas.items():
        resource = Resource(schema, DRAFT7)
        for place in (file, base + file, draft + file, *([schema["$id"]] if "$id" in schema else [])):
            ids[place] = resource
    ids["http://swagger.io/v2/schema.json"] = ids["openapi.json"]
    registry: Registry[Any] = Registry().with_resources(ids.items())
    return Draft7Validator(schemas[f"{name}.json"], registry=registry)


def examples(folder: Path, version: str, name: str, kind: str) -> list[Path]:
    """The files of examples, ``"valid"`` or ``"invalid"``, of a schema."""
    return sorted((folder / version / "examples" / name / kind).glob("*.json"))
