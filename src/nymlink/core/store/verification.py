"""Check in the background whether large files are whole, while what else is needed is loaded."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread
from typing import Any, Final

from nymlink.core.errors import StoreError
from nymlink.core.store.manifest import check_files

_THREADS: Final = 2
"""More of them gain little: what is read is limited by memory or disk."""


class Verification:
    """A check of the digests of files, under way from the start in threads of its own.

    Args:
        directory: where they are.
        manifest: its manifest, which has the digests.
        names: the files, as the manifest names them.
    """

    def __init__(self, directory: Path, manifest: Mapping[str, Any], names: Iterable[str]) -> None:
        self._directory = directory
        self._manifest = manifest
        # The largest first, so that no thread is left with it at the end.
        self._names = sorted(names, key=lambda name: -manifest["files"][name]["size"])
        self._damage: StoreError | None = None
        self._lock = Lock()
        self._process = os.getpid()
        self._waiting: SimpleQueue[str] = SimpleQueue()
        for name in self._names:
            self._waiting.put(name)
        self._left = len(self._names)
        self._done = Event()
        if not self._names:
            self._done.set()
        for _ in range(min(_THREADS, len(self._names))):
            # A command that ends early, by an error or Ctrl-C, does not wait for it.
            Thread(target=self._work, name="verification", daemon=True).start()

    def wait(self) -> None:
        """Wait until all files are checked.

        Raises:
            StoreError: one is damaged.
        """
        if not self._done.is_set():
            if os.getpid() == self._process:
                self._done.wait()
            else:
                # A process that was forked meanwhile has no threads but its own.
                check_files(self._directory, self._manifest, self._names)
                self._done.set()
        if self._damage is not None:
            raise StoreError(self._damage.message, path=self._damage.path)

    def _work(self) -> None:
        while True:
            try:
                name = self._waiting.get_nowait()
            except Empty:
                return
            try:
                check_files(self._directory, self._manifest, [name])
            except StoreError as error:
                self._damage = self._damage or error
            finally:
                with self._lock:
                    self._left -= 1
                    if not self._left:
                        self._done.set()
