"""The application: routes over indexes, behind guards."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Final

import anyio.to_thread
from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles
from starlette.middleware.gzip import GZipMiddleware

from nymlink import __version__
from nymlink.core.errors import InputError
from nymlink.linking.judge import Judge
from nymlink.serve.answers import complete_description
from nymlink.serve.errors import add_error_handlers
from nymlink.serve.guards.body import BodyGuard
from nymlink.serve.guards.hosts import HeaderGuard, HostGuard
from nymlink.serve.guards.memory import MemoryBudget, MemoryGuard
from nymlink.serve.guards.tokens import TokenGuard, Tokens
from nymlink.serve.guards.watch import Metrics, Watch
from nymlink.serve.reloading import Reloading
from nymlink.serve.routes import codes, link, lookups, project_files, projects, reconcile, review
from nymlink.serve.serve_settings import API, ServeSettings
from nymlink.serve.served import ServedIndexes
from nymlink.serve.served_projects import ServedProjects
from nymlink.serve.templates import STATIC

_DESCRIPTION = "Resolve biomedical names to concepts. Errors have one shape: status, code, what, what_to_do."

_NO_TELEMETRY: Final[Any] = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}
"""Recent versions of FastAPI pass addresses, bodies and errors to OpenTelemetry; they may hold texts of
patients."""


_LEAST: Final = 1024
"""Bytes of the smallest answer that is compressed, for clients that accept it."""

_LEVEL: Final = 5
"""Level of compression: higher ones take twice the time and save few bytes."""


def create_app(indexes: ServedIndexes, settings: ServeSettings | None = None) -> FastAPI:
    """Make the application.

    Routes are plain functions, which run in threads. `/link` is a coroutine: its requests wait for the linker of
    their index, and hundreds of waiting threads would cost more than the links. The application opens indexes that
    are not open yet when it starts, and closes projects and indexes when it ends.

    Args:
        indexes: the indexes.
        settings: settings of the server; ``None`` for the defaults.

    Raises:
        InputError: the file of tokens cannot be read; or requests of a token are limited, but there is no token;
            or the judge has several models.
        OutputError: the file of questions to the judge cannot be written.
    """
    settings = settings or ServeSettings()
    tokens = Tokens(settings.tokens, settings.token_file)
    per_minute = settings.limits.requests_per_minute
    if per_minute is not None and not tokens:
        raise InputError("requests_per_minute counts the requests of a token: give tokens (--token-file)")
    judge = None if settings.judge is None else Judge(settings.judge)
    if judge is not None:
        judge.begin()
    budget = MemoryBudget(settings.limits.memory_bytes)
    metrics = Metrics()
    metrics.watch_memory(lambda: budget.claimed)
    opened = None if settings.projects is None else ServedProjects(settings.projects, indexes)
    reloading = Reloading(indexes, tokens, opened)
    for name in indexes.names:
        metrics.watch_waiting(name, partial(_waiting, indexes, name))

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = settings.limits.requests
        reloading.start()
        yield
        if opened is not None:
            await anyio.to_thread.run_sync(opened.close)
        await anyio.to_thread.run_sync(indexes.close)

    app = FastAPI(
        title="nymlink",
        version=__version__,
        description=_DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry=_NO_TELEMETRY,
        generate_unique_id_function=lambda route: route.name,
    )
    _complete_description(app, token=settings.needs_token)
    app.state.indexes, app.state.settings, app.state.metrics = indexes, settings, metrics
    app.state.projects, app.state.reloading, app.state.judge = opened, reloading, judge
    add_error_handlers(app)
    # FastAPI prepares routes when a request first passes them: those that tell whether the server runs come first.
    app.include_router(lookups.status_router)
    for router in (
        link.router,
        codes.router,
        lookups.router,
        projects.router,
        review.router,
        projects.learning_router,
        project_files.router,
    ):
        app.include_router(router, prefix=API)
        # Pages and short commands ask without the version, which is the newest.
        app.include_router(router, include_in_schema=False)
    for router in (reconcile.router, lookups.pages_router):
        app.include_router(router)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    # The last is the outermost.
    app.add_middleware(BodyGuard, limits=settings.limits)
    app.add_middleware(MemoryGuard, budget=budget)
    if settings.needs_token:
        app.add_middleware(TokenGuard, tokens=tokens, per_minute=per_minute)
    app.add_middleware(GZipMiddleware, minimum_size=_LEAST, compresslevel=_LEVEL)
    app.add_middleware(HostGuard, hosts=settings.hosts)
    app.add_middleware(HeaderGuard, origins=settings.origins)
    app.add_middleware(Watch, metrics=metrics, log=settings.access_log)
    return app


def _waiting(indexes: ServedIndexes, name: str) -> int:
    """Count the mentions that wait for an index; after a reload, for the present release."""
    return indexes.by_name[name].linker.waiting if indexes.are_open else 0


def _complete_description(app: FastAPI, *, token: bool) -> None:
    """Complete the description of the API, which is made when it is first asked for."""
    describe = app.openapi

    def described() -> dict[str, Any]:
        is_new = app.openapi_schema is None
        api = describe()
        if is_new:
            complete_description(api, token=token)
        return api

    app.openapi = described  # type: ignore[method-assign]
