"""Check the digests of large files in the background during loading."""

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
"""More threads gain little: memory or disk bandwidth is the limit."""


class Verification:
    """A check of file digests in threads, started at its creation.

    Args:
        directory: the directory of the files.
        manifest: its manifest, with their digests.
        names: the files to check, as the manifest names them.

    Attributes:
        passed: whether all files are known to be undamaged, so that nobody has to wait.
    """

    def __init__(self, directory: Path, manifest: Mapping[str, Any], names: Iterable[str]) -> None:
        self.passed = False
        self._directory = directory
        self._manifest = manifest
        # The largest first, so that no thread works on it alone at the end.
        self._names = sorted(names, key=lambda name: -manifest["files"][name]["size"])
        self._damage: StoreError | None = None
        self._lock = Lock()
        self._process = os.getpid()
        self._unchecked: SimpleQueue[str] = SimpleQueue()
        for name in self._names:
            self._unchecked.put(name)
        self._remaining = len(self._names)
        self._done = Event()
        if not self._names:
            self._done.set()
        for _ in range(min(_THREADS, len(self._names))):
            # Daemon threads: a command that ends early, by an error or Ctrl-C, does not wait for them.
            Thread(target=self._work, name="verification", daemon=True).start()

    def wait(self) -> None:
        """Wait until all files are checked.

        Raises:
            StoreError: a file is damaged.
        """
        if not self._done.is_set():
            if os.getpid() == self._process:
                self._done.wait()
            else:
                # In a forked process the threads do not exist.
                check_files(self._directory, self._manifest, self._names)
                self._done.set()
        if self._damage is not None:
            raise StoreError(self._damage.message, path=self._damage.path)
        self.passed = True

    def _work(self) -> None:
        while True:
            try:
                name = self._unchecked.get_nowait()
            except Empty:
                return
            try:
                check_files(self._directory, self._manifest, [name])
            except StoreError as error:
                self._damage = self._damage or error
            finally:
                with self._lock:
                    self._remaining -= 1
                    if not self._remaining:
                        self._done.set()
