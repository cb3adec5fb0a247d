"""Throw-away virtual environments, in which peers are installed from PyPI."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


class NotInstalledError(Exception):
    """Packages that could not be installed, with pip's reason."""


@contextmanager
def environment(folder: Path, packages: Sequence[str], *, borrows: bool = False) -> Iterator[str]:
    """Install packages into a new environment, removed at the end, and yield its Python.

    Args:
        folder: folder to make for it.
        packages: what to install; none for this Python as it is.
        borrows: whether what is installed here can be imported, and need not be installed: torch is large.

    Raises:
        NotInstalledError: it could not be made.
    """
    if not packages and not borrows:
        yield sys.executable
        return
    shutil.rmtree(folder, ignore_errors=True)
    try:
        yield install(folder, packages, borrows=borrows)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def install(folder: Path, packages: Sequence[str], *, borrows: bool = False) -> str:
    """Install packages into a new environment, and return its Python; see :func:`environment`."""
    python = folder / "bin" / "python"
    try:
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, capture_output=True, text=True)
        if borrows:
            [site] = folder.glob("lib/python*/site-packages")
            lent = [path for path in sys.path if path.endswith("site-packages")]
            (site / "borrowed.pth").write_text("\n".join(lent) + "\n", encoding="utf-8")
        command = [str(python), "-m", "pip", "install", "--quiet", *packages]
        subprocess.run(command, check=True, capture_output=True, text=True)
    except OSError as error:
        raise NotInstalledError(str(error)) from error
    except subprocess.CalledProcessError as error:
        raise NotInstalledError(_reason(error.stderr)) from error
    return str(python)


def _reason(said: str) -> str:
    """Return the last error that pip printed."""
    errors = [line for line in said.splitlines() if line.startswith("ERROR: ")]
    return errors[-1].removeprefix("ERROR: ") if errors else "pip failed"
