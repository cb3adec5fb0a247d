"""Options made of the fields of a settings class, and what was given with them."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING
from types import NoneType
from typing import Any, Literal, get_args, get_origin

import click

from nymlink.train.settings.fields import Setting, settings_of


def _flag(one: Setting) -> str:
    return one.flag or "--" + one.name.replace("_", "-")


def _option(one: Setting) -> Callable[[Any], Any]:
    """The option of a setting: ``None`` (or nothing) where it is not given."""
    parts = get_args(one.type)
    kind = next(part for part in parts if part is not NoneType) if NoneType in parts else one.type
    origin = get_origin(kind)
    shape: dict[str, Any]
    if origin is tuple:
        shape = {"multiple": True}
    elif origin is dict and get_args(kind)[1] is Any:
        shape = {"multiple": True, "metavar": "NAME=VALUE"}
    elif origin is dict:
        shape = {"multiple": True, "nargs": 3, "metavar": "NAME CORPUS DICTIONARY"}
    elif origin is Literal:
        shape = {"type": click.Choice(get_args(kind))}
    else:
        shape = {"type": kind}
    names = [f"{_flag(one)}/--no-{one.name.replace('_', '-')}"] if kind is bool else [_flag(one)]
    if one.name == "output":
        names.append("-o")
    return click.option(*names, one.name, default=None, help=_help(one, repeatable="multiple" in shape), **shape)


def _help(one: Setting, *, repeatable: bool) -> str:
    """What the setting means, its name in a file, its default, and what the paper takes."""
    known = []
    if one.flag is not None:
        known.append(f"in CONFIG: {one.name}")
    elif one.type is bool:
        known.append(f"in CONFIG: {one.name} = true or false")
    if one.default is not MISSING and one.default not in (None, (), {}):
        default = {True: "on", False: "off"}.get(one.default, one.default) if one.type is bool else one.default
        known.append(f"default: {default}")
    if one.paper is not None:
        known.append(f"paper: {one.paper}")
    said = f"{one.help[0].upper()}{one.help[1:]}."
    return f"{said}{' Repeatable.' if repeatable else ''}" + (f"  [{'; '.join(known)}]" if known else "")


def settings_options(cls: type[Any]) -> Callable[[Any], Any]:
    """The options of all settings of a class, in their order."""

    def decorate(command: Any) -> Any:
        for one in reversed(list(settings_of(cls))):
            command = _option(one)(command)
        return command

    return decorate


def given(flags: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that were given with flags, as a TOML file would give them.

    Raises:
        click.BadParameter: a setting of a loss is not of the form NAME=VALUE, or a name was given twice.
    """
    values = {name: value for name, value in flags.items() if value not in (None, ())}
    if "evaluation" in values:
        _require_once("--evaluate", [label for label, _, _ in values["evaluation"]])
        values["evaluation"] = {
            label: {"corpus": corpus, "dictionary": dictionary}
            for label, corpus, dictionary in values["evaluation"]
        }
    if "loss_settings" in values:
        settings = list(map(_loss_setting, values["loss_settings"]))
        _require_once("--loss-setting", [name for name, _ in settings])
        values["loss_settings"] = dict(settings)
    return values


def _require_once(flag: str, names: Sequence[str]) -> None:
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise click.BadParameter(f"{flag} was given twice for {twice[0]!r}")


def _loss_setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise click.BadParameter(f"{text!r} is not of the form NAME=VALUE, for example gamma=80")
    try:
        return name, tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return name, value
