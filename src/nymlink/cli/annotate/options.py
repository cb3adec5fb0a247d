"""The options that say what an annotator looks for, shared by the commands that have one."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, Final

import click

from nymlink.annotation.confidence import MIN_CONFIDENCE, MIN_FUZZY_CONFIDENCE
from nymlink.annotation.restriction import Restriction
from nymlink.annotation.settings import AnnotatorSettings
from nymlink.core.errors import InputError
from nymlink.linking.model import FLAGS

_OPTIONS: Final = (
    click.option(
        "--fuzzy/--no-fuzzy",
        default=False,
        show_default=True,
        help="Link phrases that no name is, too, by the searches of the index: finds more, several times slower.",
    ),
    click.option(
        "--min-confidence",
        default=MIN_CONFIDENCE,
        show_default=True,
        type=click.FloatRange(0, 1),
        help="Leave out mentions of less confidence.",
    ),
    click.option(
        "--fuzzy-confidence",
        default=MIN_FUZZY_CONFIDENCE,
        show_default=True,
        type=click.FloatRange(0, 1),
        help="With --fuzzy: leave out phrases of less confidence.",
    ),
    click.option(
        "--overlaps/--no-overlaps",
        default=False,
        show_default=True,
        help="Keep mentions that overlap; else those of most words are chosen.",
    ),
    click.option(
        "--branch",
        "branches",
        multiple=True,
        metavar="ID",
        help="This concept and its descendants only. Repeatable.",
    ),
    click.option(
        "--semantic-type",
        "semantic_types",
        multiple=True,
        metavar="TYPE",
        help="Concepts of this type only. Repeatable.",
    ),
    click.option(
        "--source", "sources", multiple=True, metavar="SOURCE", help="Names of this source only. Repeatable."
    ),
    click.option("--ids", type=click.Path(path_type=Path), help="The concepts of this file only, an id a line."),
    click.option(
        "--detector",
        default="dictionary",
        show_default=True,
        metavar="NAME",
        help="What finds mentions: dictionary; given, those that documents come with; spacy:MODEL; hf:MODEL.",
    ),
    click.option(
        "--flags",
        default=",".join(FLAGS),
        show_default=True,
        metavar="LIST",
        help="What is told of the sentence of a mention, joined by commas; none for nothing.",
    ),
    click.option(
        "--language",
        default="en",
        show_default=True,
        metavar="CODE",
        help="Language of texts and names, by whose rules words are compared; any for all names, word for word.",
    ),
)


def annotator_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of an annotator, given to the command as ``settings``."""

    @wraps(command)
    def with_settings(
        *,
        fuzzy: bool,
        min_confidence: float,
        fuzzy_confidence: float,
        overlaps: bool,
        branches: tuple[str, ...],
        semantic_types: tuple[str, ...],
        sources: tuple[str, ...],
        ids: Path | None,
        detector: str,
        flags: str,
        language: str,
        **others: Any,
    ) -> None:
        restriction = Restriction(branches=branches, types=semantic_types, sources=sources, ids=_read_ids(ids))
        command(
            settings=AnnotatorSettings(
                min_confidence=min_confidence,
                overlaps=overlaps,
                fuzzy=fuzzy,
                fuzzy_confidence=fuzzy_confidence,
                restriction=restriction,
                detector=detector,
                flags=_flags(flags),
                language=None if language == "any" else language,
            ),
            **others,
        )

    decorated: Callable[..., None] = with_settings
    for decorate in reversed(_OPTIONS):
        decorated = decorate(decorated)
    return decorated


def _flags(text: str) -> tuple[str, ...]:
    flags = () if text == "none" else tuple(flag.strip() for flag in text.split(","))
    if unknown := sorted(set(flags) - set(FLAGS)):
        raise click.BadParameter(f"no flag {unknown[0]!r}: there are {', '.join(FLAGS)}, and none")
    return flags


def _read_ids(path: Path | None) -> tuple[str, ...]:
    if path is None:
        return ()
    try:
        ids = tuple(dict.fromkeys(path.read_text(encoding="utf-8").split()))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}", path=path) from error
    if not ids:
        raise InputError("there is no id in it", path=path)
    return ids
