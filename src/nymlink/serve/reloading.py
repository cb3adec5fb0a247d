"""Start and reload a server: open its indexes, and later other releases of them, while it answers."""

from __future__ import annotations

from concurrent.futures import Future
from threading import Lock, Thread

from nymlink.core.errors import NymlinkError
from nymlink.core.terminal import tell
from nymlink.serve.errors import ProblemError
from nymlink.serve.guards.tokens import Tokens
from nymlink.serve.served import ServedIndexes
from nymlink.serve.served_projects import ServedProjects


class Reloading:
    """Opens the indexes of a server, and reads them and its tokens again.

    A reload changes all or nothing: if a file is missing or damaged, the former indexes and tokens stay. Requests
    that began before it end on the former index. Both releases are in memory until then.

    Args:
        indexes: the indexes.
        tokens: the tokens.
        projects: the projects; ``None`` for none.

    Attributes:
        opened: done when all indexes are open, or one cannot be opened.
    """

    def __init__(self, indexes: ServedIndexes, tokens: Tokens, projects: ServedProjects | None) -> None:
        self._indexes = indexes
        self._tokens = tokens
        self._projects = projects
        self._turn = Lock()
        self.opened: Future[None] = Future()

    def start(self) -> None:
        """Open the indexes in a thread, and continue unfinished linking of projects."""
        Thread(target=self._open, name="open-indexes", daemon=True).start()

    def _open(self) -> None:
        try:
            with self._turn:
                if not self._indexes.are_open:
                    self._indexes.open()()
        except Exception as error:
            self.opened.set_exception(error)
            return
        self.opened.set_result(None)
        self._indexes.warm_up()
        if self._projects is not None:
            self._projects.resume()

    def reload(self) -> list[str]:
        """Read tokens, and open indexes whose folder has another release.

        Returns:
            The names of changed indexes.

        Raises:
            ProblemError: a file is missing or damaged; nothing has changed. Or the indexes are not open yet.
        """
        _ = self._indexes.by_name
        with self._turn:
            try:
                accept_tokens = self._tokens.read()
                replace_indexes = self._indexes.open()
            except NymlinkError as error:
                tell(f"not reloaded, the former indexes and tokens go on: {error}", level="error")
                # The path of a file is for the operator, who reads the log.
                to_do = "correct the files, then reload again: the former indexes and tokens go on"
                raise ProblemError(500, "not_reloaded", error.message, to_do) from error
            accept_tokens()
            changed = replace_indexes()
            if self._projects is not None and changed:
                self._projects.find_indexes()
        tell(f"reloaded; other releases: {', '.join(changed) or 'none'}")
        return changed

    def reload_soon(self) -> None:
        """Reload in a thread; the log has the outcome."""
        Thread(target=self._reload_quietly, name="reload", daemon=True).start()

    def _reload_quietly(self) -> None:
        try:
            self.reload()
        except ProblemError as error:
            if error.problem.code == "not_ready":
                tell("not reloaded: the indexes are being opened", level="warning")
