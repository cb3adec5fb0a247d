"""Recipes: TOML files with the settings of a training, of the papers and of ours."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import MISSING
from itertools import takewhile
from pathlib import Path
from typing import Any, Final

from nymlink.core.errors import InputError
from nymlink.core.toml_settings import line_of, read_toml, settings_of
from nymlink.train.settings.common import RunSettings
from nymlink.train.settings.encoder_trainings import TRAININGS, StagesSettings
from nymlink.train.settings.reranker_trainings import CrossEncoderSettings, RerankSettings

SETTINGS: Final[Mapping[str, type[RunSettings]]] = {
    **TRAININGS,
    "rerank": RerankSettings,
    "cross-encoder": CrossEncoderSettings,
}
"""Training → its settings."""

RECIPE: Final = "recipe.toml"
"""Name of the recipe that each training writes into its folder. The same training can be run again from it."""

_FOLDER: Final = Path(__file__).parents[1] / "recipes"
_WIDTH: Final = 100


def recipes() -> dict[str, str]:
    """List the recipes that come with nymlink: name → first line of the file, without the ``#``."""
    return {path.stem: next(_comment(path)) for path in sorted(_FOLDER.glob("*.toml"), key=lambda path: path.stem)}


def read_recipe(recipe: str | Path, training: str) -> tuple[dict[str, Any], Path]:
    """Read the settings of a recipe.

    Args:
        recipe: name of one of :func:`recipes`, or path of a file, or path of the folder of a training.
        training: the expected training. A file may name its training, but need not.

    Returns:
        The settings, and the path of the recipe's file.

    Raises:
        InputError: there is no such recipe, it is not TOML, or it is a recipe of another training.
    """
    path = _FOLDER / f"{recipe}.toml" if recipe in recipes() else Path(recipe)
    if path.is_dir():
        path /= RECIPE
    if not path.exists():
        raise InputError(
            f"no such recipe; give a file, the folder of a training, or one of {', '.join(recipes())}", path=path
        )
    values = read_toml(path)
    stated = values.pop("train", training)
    if stated != training:
        raise InputError(
            f"a recipe of `train {stated}`, not of {training}", path=path, line=line_of("train", path)
        )
    return values, path


def read_stages(recipe: str | Path, *, output: str | None = None) -> StagesSettings:
    """Read a recipe with stages.

    Args:
        recipe: as in :func:`read_recipe`. The recipe has ``output`` and tables ``[[stage]]``. In each table,
            ``train`` names the training.
        output: the folder to write, instead of the folder that the recipe names.

    Raises:
        InputError: the file is missing or wrong; the message gives the line, and the known keys.
    """
    values, path = read_recipe(recipe, "stages")
    if unknown := [key for key in values if key not in ("output", "stage")]:
        raise InputError(
            f"unknown key: {unknown[0]}; there are: output, stage; settings of a training stand in its [[stage]]",
            path=path,
            line=line_of(unknown[0], path),
        )
    tables = values.get("stage")
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise InputError('no stage: begin each with a line [[stage]], and train = "sap" below it', path=path)
    output = output or values.get("output")
    if not isinstance(output, str) or not output:
        raise InputError('no output: add a line output = "FOLDER" at the top, or name it with -o', path=path)
    settings = StagesSettings(output=output, stage=tuple(tables))
    settings.stages(path=path)
    return settings


def written_out(name: str) -> str:
    """Write out a recipe with all settings of its training and their meaning. Users can edit it as a new recipe.

    Args:
        name: one of :func:`recipes`, or a training to write out its defaults.

    Raises:
        InputError: there is no recipe of this name.
    """
    if name in SETTINGS:
        head, training, values = [f"Defaults of nymlink train {name}"], name, {}
    elif name in recipes():
        values = read_toml(_FOLDER / f"{name}.toml")
        head, training = list(_comment(_FOLDER / f"{name}.toml")), values["train"]
    else:
        raise InputError(f"no recipe {name!r}: there are {', '.join((*SETTINGS, *recipes()))}")
    lines = [*(f"# {line}".rstrip() for line in head), f'train = "{training}"']
    for setting in settings_of(SETTINGS[training]):
        value = values.get(setting.name, setting.default)
        lines += ["", *textwrap.wrap(setting.help, _WIDTH, initial_indent="# ", subsequent_indent="# ")]
        is_open = value is None or value is MISSING
        lines.append(f"# {setting.name} =" if is_open else f"{setting.name} = {json.dumps(value)}")
    return "\n".join(lines) + "\n"


def _comment(path: Path) -> Iterator[str]:
    """Yield the lines of the comment at the top of a file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return (line.removeprefix("#").strip() for line in takewhile(lambda line: line.startswith("#"), lines))
