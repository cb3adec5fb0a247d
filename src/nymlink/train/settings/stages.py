"""Recipe files: trainings of an encoder, one after the other, each beginning with what the last one made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from nymlink.core.errors import InputError
from nymlink.train.settings.common import EncoderTrainingSettings
from nymlink.train.settings.encoder_recipes import (
    BioSynSettings,
    FinetuneSettings,
    SapSettings,
    TranslationSettings,
)
from nymlink.train.settings.fields import about, make_settings
from nymlink.train.settings.toml_files import line_of, read_toml

TRAININGS: Final[Mapping[str, type[EncoderTrainingSettings]]] = {
    "sap": SapSettings,
    "translation": TranslationSettings,
    "finetune": FinetuneSettings,
    "biosyn": BioSynSettings,
}
"""The trainings that can be a stage: those that make an encoder."""

_KEYS: Final = ("output", "stage")


@dataclass(frozen=True)
class Stage:
    """A stage of a recipe.

    Attributes:
        name: its number, from 1, and its training: ``1-sap``; also the name of its folder.
        training: one of :data:`TRAININGS`.
        settings: the settings of the training, with base and output.
    """

    name: str
    training: str
    settings: EncoderTrainingSettings


@dataclass(frozen=True, kw_only=True)
class StagesSettings:
    """The settings of a recipe file.

    Attributes:
        output: the folder to write.
        stage: the tables ``[[stage]]`` of the file; see :meth:`stages`.
    """

    output: str = field(metadata=about("folder to write: the last encoder, and the stages", matters=False))
    # Whether a stage is still the same is asked of its own folder.
    stage: tuple[dict[str, Any], ...] = field(metadata=about("the settings of each stage", matters=False))

    def stages(self, *, path: Path | None = None) -> list[Stage]:
        """Make the settings of each stage: its base is the stage before, its output a folder in ``output``.

        Args:
            path: the file that the tables come from, for messages.

        Raises:
            InputError: a setting is unknown, missing, wrong, or one that the recipe itself makes.
        """
        return list(self._stages(path))

    def _stages(self, path: Path | None) -> Iterator[Stage]:
        given: dict[str, Any] = {}
        for number, table in enumerate(self.stage, start=1):
            place = ("stage", str(number))
            for key in table:
                if key == "output" or (key == "base" and given):
                    raise InputError(
                        f"{key}: leave it out: a stage begins with the stage before it, and is written to a "
                        "folder in the recipe's output",
                        path=path,
                        line=line_of(key, path, place),
                    )
            training = str(table.get("train", ""))
            if training not in TRAININGS:
                line = line_of("train", path, place) or line_of(place[1], path, place[:1])
                known = ", ".join(TRAININGS)
                raise InputError(f"train must be one of {known}, not {training!r}", path=path, line=line)
            name = f"{number}-{training}"
            given |= {"output": str(Path(self.output) / name)}
            values = {key: value for key, value in table.items() if key != "train"} | given
            yield Stage(name, training, make_settings(TRAININGS[training], values, path=path, table=place))
            given = {"base": given["output"]}


def read_stages(path: Path, *, output: str | None = None) -> StagesSettings:
    """Read a recipe file.

    Args:
        path: a TOML file with ``output`` and tables ``[[stage]]``, each of which names its training as ``train``.
        output: the folder to write, instead of the file's.

    Raises:
        InputError: the file is missing or wrong; the message gives the line, and the keys that there are.
    """
    values = read_toml(path)
    if unknown := [key for key in values if key not in _KEYS]:
        raise InputError(
            f"unknown key: {unknown[0]}; there are: {', '.join(_KEYS)}; settings of a training stand in its "
            "[[stage]]",
            path=path,
            line=line_of(unknown[0], path, ()),
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
