"""`nymlink serve`: answer over HTTP."""

from __future__ import annotations

import webbrowser
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import click
from platformdirs import user_data_path

from nymlink.cli.option_groups import GroupedCommand
from nymlink.core.environment import chosen_index
from nymlink.core.errors import MissingExtraError
from nymlink.core.terminal import tell
from nymlink.core.toml_settings import make_settings, read_toml


@click.command(cls=GroupedCommand)
@click.option(
    "--index",
    "indexes",
    multiple=True,
    metavar="NAME=PATH",
    help="An index and its name in requests; the first is their default. If not given, the embedded default, as "
    "hpo. Repeatable.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0 for all.")
@click.option(
    "--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="Port; 0 for a free one."
)
@click.option("--open", "opened", is_flag=True, help="Open the page in a browser.")
@click.option(
    "--target-precision",
    type=click.FloatRange(0, 1),
    help="Share of right links, as measured by `nymlink calibrate`: links below its confidence are NIL, and "
    "reconciliation matches the others automatically. If not given, no mention with a candidate is NIL, and "
    "reconciliation matches from 0.94.",
)
@click.option(
    "--token-file",
    type=click.Path(path_type=Path),
    help="File of bearer tokens, one per line; every request needs one of them. SIGHUP reads it again.",
)
@click.option(
    "--allow-origin",
    "origins",
    multiple=True,
    metavar="ORIGIN",
    help="Let pages of this site read answers, for example https://curation.example.org; * for all. "
    "Reconciliation is open to all pages. Repeatable.",
)
@click.option(
    "--projects",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of project files, for reviews of tables; if not given, one of this user's.",
)
@click.option(
    "--memory",
    type=click.IntRange(min=64),
    metavar="MB",
    help="Memory for all requests together, in MB; requests beyond it are refused for now. If not given, a "
    "quarter of the machine's, 2048 at most.",
)
@click.option(
    "--limits",
    "limits_file",
    type=click.Path(path_type=Path),
    help="TOML file with limits of a request, such as mentions = 500 and requests_per_minute = 600 (of a token).",
)
@click.option(
    "--judge",
    "judge_at",
    metavar="URL",
    help="Let requests have a chat model at this address asked about links of low confidence. Or a TOML file with "
    "a table [judge], as of `nymlink link`.",
)
@click.option("--public-url", metavar="URL", help="Address for browsers, behind a proxy.")
@click.option(
    "--access-log/--no-access-log",
    default=True,
    show_default=True,
    help="Write a line per request to standard error, without its texts; as JSON with --log-format json.",
)
def serve(
    indexes: tuple[str, ...],
    host: str,
    port: int,
    opened: bool,
    target_precision: float | None,
    token_file: Path | None,
    origins: tuple[str, ...],
    projects: Path | None,
    memory: int | None,
    limits_file: Path | None,
    judge_at: str | None,
    public_url: str | None,
    access_log: bool,
) -> None:
    """Answer over HTTP: the API, OpenRefine reconciliation, and a page.

    POST /v1/link links mentions, GET /v1/search and /v1/concepts/ID look concepts up, /reconcile/NAME is a
    reconciliation service; /docs describes all. Only this machine can reach it, unless --host says otherwise.
    Ctrl-C stops it after the running requests. SIGHUP, or POST /v1/indexes/reload, opens new releases of indexes.

    \b
    nymlink serve --open
    nymlink serve --index mondo=mondo-index --index medic=medic-index --port 8001
    nymlink serve --index mondo=mondo-index --host 0.0.0.0 --token-file tokens.txt
    """
    if any(find_spec(name) is None for name in ("fastapi", "uvicorn", "jinja2", "prometheus_client")):
        raise MissingExtraError("serve", purpose="nymlink serve")
    from nymlink.linking.judge import JudgeSettings
    from nymlink.serve.app import create_app
    from nymlink.serve.guards.hosts import own_hosts
    from nymlink.serve.guards.watch import log_to_standard_error
    from nymlink.serve.serve_settings import Limits, ServeSettings
    from nymlink.serve.served import ServedIndexes
    from nymlink.serve.server import run, take_port

    chosen = {} if limits_file is None else read_toml(limits_file)
    limits = make_settings(Limits, chosen, path=limits_file)
    if memory is not None:
        limits = replace(limits, memory_bytes=memory << 20)
    settings = ServeSettings(
        limits=limits,
        token_file=token_file,
        origins=origins,
        hosts=own_hosts(host, public_url),
        public_url=public_url,
        access_log=access_log,
        projects=projects or user_data_path("nymlink") / "projects",
        judge=None if judge_at is None else JudgeSettings.of(judge_at),
    )
    default = chosen_index()
    usual = ("hpo", None) if default is None else (default.name, default)
    served = ServedIndexes(places=_places(indexes) or [usual], target_precision=target_precision, limits=limits)
    app = create_app(served, settings)
    taken = take_port(host, port)
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{taken.getsockname()[1]}/"

    def ready() -> None:
        tell(f"{', '.join(served.names)}: {address} (Ctrl-C stops)")
        if opened:
            webbrowser.open(address)

    with log_to_standard_error():
        run(app, taken, limits=limits, ready=ready)


def _places(indexes: Sequence[str]) -> list[tuple[str, Path | None]]:
    """Split ``NAME=PATH``; a path alone is named like its folder."""
    places: list[tuple[str, Path | None]] = []
    for index in indexes:
        name, equals, path = index.partition("=")
        if not equals:
            name, path = Path(index).name, index
        if not name or not path:
            raise click.BadParameter(f"{index!r} is not of the form NAME=PATH", param_hint="--index")
        places.append((name, Path(path)))
    return places
