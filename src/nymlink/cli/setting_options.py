"""Make command-line options of the fields of a settings class, and read them back."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING
from types import NoneType
from typing import Any, Literal, get_args, get_origin

import click

from nymlink.train.settings.fields import Setting, settings_of


def _flag(setting: Setting) -> str:
    return setting.flag or "--" + setting.name.replace("_", "-")


def _option(setting: Setting) -> Callable[[Any], Any]:
    """Make the option of a setting; its value is ``None``, or empty, where it is not given."""
    parts = get_args(setting.type)
    kind = next(part for part in parts if part is not NoneType) if NoneType in parts else setting.type
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
    names = [f"{_flag(setting)}/--no-{setting.name.replace('_', '-')}"] if kind is bool else [_flag(setting)]
    if setting.name == "output":
        names.append("-o")
    return click.option(
        *names, setting.name, default=None, help=_help(setting, repeatable="multiple" in shape), **shape
    )


def _help(setting: Setting, *, repeatable: bool) -> str:
    """Write the help of a setting: its meaning, its name in a file, its default, and the value of the paper."""
    details = []
    if setting.flag is not None:
        details.append(f"in CONFIG: {setting.name}")
    elif setting.type is bool:
        details.append(f"in CONFIG: {setting.name} = true or false")
    if setting.default is not MISSING and setting.default not in (None, (), {}):
        is_switch = setting.type is bool
        details.append(f"default: {('off', 'on')[setting.default] if is_switch else setting.default}")
    if setting.paper is not None:
        details.append(f"paper: {setting.paper}")
    meaning = f"{setting.help[0].upper()}{setting.help[1:]}."
    return f"{meaning}{' Repeatable.' if repeatable else ''}" + (f"  [{'; '.join(details)}]" if details else "")


def settings_options(cls: type[Any]) -> Callable[[Any], Any]:
    """Add an option for each setting of a class, in their order."""

    def decorate(command: Any) -> Any:
        for setting in reversed(list(settings_of(cls))):
            command = _option(setting)(command)
        return command

    return decorate


def given(flags: Mapping[str, Any]) -> dict[str, Any]:
    """Read the settings given as options into the form of a TOML file.

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
