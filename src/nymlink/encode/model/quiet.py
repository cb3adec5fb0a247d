"""Keeping messages, progress bars and questions of transformers off the terminal."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from logging import ERROR


@contextlib.contextmanager
def quiet_transformers() -> Iterator[None]:
    """Let transformers print nothing but errors, and ask nothing.

    Its question, whether to run code of a model, would read the answer from standard input, where mentions are.
    """
    from transformers import dynamic_module_utils
    from transformers.utils import logging

    timeout, dynamic_module_utils.TIME_OUT_REMOTE_CODE = dynamic_module_utils.TIME_OUT_REMOTE_CODE, 0
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity(ERROR)
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        dynamic_module_utils.TIME_OUT_REMOTE_CODE = timeout
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]
