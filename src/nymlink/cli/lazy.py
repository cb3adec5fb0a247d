"""Groups that import a command only when it is run; the top one turns errors into messages."""

from __future__ import annotations

import errno
import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Final, cast

import click

from nymlink.core.errors import NymlinkError
from nymlink.core.visible import visible

_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class LazyCommands(click.Group):
    """A group whose commands are named by where they are: ``{"link": "nymlink.cli.link:link"}``."""

    def __init__(self, name: str, *, help: str, commands: Mapping[str, str]) -> None:
        super().__init__(name, help=help, context_settings={"help_option_names": ["-h", "--help"]})
        self._homes = dict(commands)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._homes)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._homes:
            return None
        module, _, attribute = self._homes[cmd_name].partition(":")
        return cast(click.Command, getattr(import_module(module), attribute))


class TopCommand(LazyCommands):
    """The command line itself."""

    def __init__(self, name: str, *, help: str, commands: Mapping[str, str]) -> None:
        super().__init__(name, help=help, commands=commands)
        click.version_option(package_name="nymlink", prog_name="nymlink")(self)

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with _visible_usage():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; errors raised on purpose become a message and exit status 2."""
        try:
            with _plain_warnings(), _visible_usage():
                result = super().invoke(ctx)
            sys.stdout.flush()
        except NymlinkError as error:
            click.echo(f"Error: {error}", err=True)
            ctx.exit(2)
        except BrokenPipeError:
            # The reader of our output has gone (`nymlink link … | head`): nothing more to do, nothing to say.
            _discard_output()
            ctx.exit(0)
        except KeyboardInterrupt:
            click.echo("Interrupted", err=True)
            ctx.exit(130)
        return result

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run and exit; what cannot be read or written (a full disk) is a message too."""
        try:
            return super().main(*args, **kwargs)
        except OSError as error:
            click.echo(visible(f"Error: {_failed(error)}"), err=True)
            _discard_output()
            sys.exit(2)


@contextmanager
def _visible_usage() -> Iterator[None]:
    """Make what click says of unusable arguments visible."""
    try:
        yield
    except click.ClickException as error:
        error.message = visible(error.message)  # type: ignore[misc]  # to click it is final
        raise


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Print our warnings as they come, each once, without the place in the code that they come from."""
    with warnings.catch_warnings():
        show = warnings.showwarning

        def say(message: Warning | str, category: type[Warning], *where: Any, **named: Any) -> None:
            if category is UserWarning:
                click.echo(visible(f"Warning: {message}"), err=True)
            else:
                show(message, category, *where, **named)

        warnings.showwarning = say
        yield


def _failed(error: OSError) -> str:
    """What failed, as far as the error tells: only of a full disk it is known that it was to be written to."""
    what = "cannot write the output" if error.errno in _FULL else "cannot read the input or write the output"
    where = "" if error.filename is None else f"{error.filename}: "
    return f"{where}{what}: {error.strerror or error}"


def _discard_output() -> None:
    """What is still buffered must not fail once more when the interpreter ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
