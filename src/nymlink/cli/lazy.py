"""Groups that import a command only when it is run; the top one turns errors into messages."""

from __future__ import annotations

import errno
import os
import sys
import traceback
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Final, cast

import click

from nymlink.cli.option_groups import GroupedCommand, message_options
from nymlink.core.errors import NymlinkError
from nymlink.core.terminal import STYLE, escape_controls, tell

_SENTENCE: Final = 200
"""Most characters of the first sentence of a command."""
_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Commands(click.Group):
    """A group whose commands have their options in groups."""

    command_class = GroupedCommand

    def sections(self, ctx: click.Context) -> Mapping[str, Iterable[str]]:
        """Return the sections of the help: title → names of commands."""
        return {"Commands": self.list_commands(ctx)}

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section for each group of commands, with the whole first sentence of each command."""
        for title, names in self.sections(ctx).items():
            commands = ((name, self.get_command(ctx, name)) for name in names)
            with formatter.section(title):
                formatter.write_dl([(name, one.get_short_help_str(_SENTENCE)) for name, one in commands if one])


class LazyCommands(Commands):
    """A group of commands, imported when they are run: ``{"link": "nymlink.cli.link.link:link"}``."""

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
    """The command line itself: ``{"Linking": {"link": "nymlink.cli.link.link:link"}}``."""

    def __init__(self, name: str, *, help: str, groups: Mapping[str, Mapping[str, str]]) -> None:
        super().__init__(
            name, help=help, commands={name: home for group in groups.values() for name, home in group.items()}
        )
        self._groups = groups
        click.version_option(package_name="nymlink", prog_name="nymlink")(self)
        self.params += message_options()

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for group in self._groups.values() for name in group]

    def sections(self, ctx: click.Context) -> Mapping[str, Iterable[str]]:
        """Return the groups of commands."""
        return self._groups

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
            kind = type(error).__name__ if STYLE.as_json else None
            _tell_error(error.message, path=error.path, line=error.line, error=kind)
            ctx.exit(2)
        except BrokenPipeError:
            # The reader of our output has gone (`nymlink link … | head`): end without a message.
            _discard_output()
            ctx.exit(0)
        except KeyboardInterrupt:
            tell("Interrupted", level="notice")
            ctx.exit(130)
        except (click.ClickException, click.exceptions.Exit, click.Abort, OSError):
            raise
        except Exception as error:
            if not STYLE.as_json:
                raise
            tell(f"nymlink failed: {error!r}", level="error", traceback=traceback.format_exc())
            ctx.exit(1)
        return result

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run and exit; an error of reading or writing (a full disk) becomes a message, too."""
        try:
            return super().main(*args, **kwargs)
        except OSError as error:
            _tell_error(_describe(error))
            _discard_output()
            sys.exit(2)
        finally:
            STYLE.quiet = STYLE.verbose = STYLE.as_json = False


def _tell_error(message: str, **fields: Any) -> None:
    """Write the message of the present error; in a verbose style, with its place in the code."""
    if STYLE.verbose and not STYLE.as_json:
        sys.stderr.write(escape_controls(traceback.format_exc()))
    place = traceback.format_exc() if STYLE.verbose and STYLE.as_json else None
    tell(message, level="error", traceback=place, **fields)


@contextmanager
def _visible_usage() -> Iterator[None]:
    """Make control characters visible in messages about unusable arguments; in JSON, write them at once."""
    try:
        yield
    except click.ClickException as error:
        if STYLE.as_json:
            tell(error.format_message(), level="error", error=type(error).__name__)
            raise click.exceptions.Exit(error.exit_code) from error
        error.message = escape_controls(error.message)  # type: ignore[misc]  # to click it is final
        raise


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Print each warning of nymlink once, at once, without its line of code."""
    with warnings.catch_warnings():
        show = warnings.showwarning

        def print_plain(message: Warning | str, category: type[Warning], *where: Any, **named: Any) -> None:
            if category is UserWarning or STYLE.as_json:
                tell(str(message), level="warning")
            else:
                show(message, category, *where, **named)

        warnings.showwarning = print_plain
        yield


def _describe(error: OSError) -> str:
    """Describe an error of reading or writing. Only for a full disk it is known that writing failed."""
    failure = "cannot write the output" if error.errno in _FULL else "cannot read the input or write the output"
    where = "" if error.filename is None else f"{error.filename}: "
    return f"{where}{failure}: {error.strerror or error}"


def _discard_output() -> None:
    """Redirect output to nowhere, so that buffered text does not fail again when the interpreter ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
