"""Check the digests of large files in the background, while they are loaded."""

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
"""Number of threads. More threads gain little, because the bandwidth of memory or disk is the limit."""


class Verification:
    """A check of file digests in threads. It starts when this object is created.

    Args:
        directory: the directory of the files.
        manifest: the manifest of the directory, with the digests.
        names: the files to check, as the manifest names them.

    Attributes:
        passed: whether :meth:`wait` has found all files undamaged, so that nobody needs to wait again.
    """

    def __init__(self, directory: Path, manifest: Mapping[str, Any], names: Iterable[str]) -> None:
        self.passed = False
        self._directory = directory
        self._manifest = manifest
        # Check the largest files first, so that no thread works alone on a large file at the end.
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
            # Use daemon threads: a command that ends early, by an error or Ctrl-C, does not wait for them.
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
                # A forked process does not have the threads, so it checks the files itself.
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
