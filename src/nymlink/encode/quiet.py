"""Keeping transformers' own messages and progress bars off the terminal."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from logging import ERROR


@contextlib.contextmanager
def quiet_transformers() -> Iterator[None]:
    """Let transformers say nothing but errors: what matters of its reports becomes an error of ours."""
    from transformers.utils import logging

    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity(ERROR)
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]
