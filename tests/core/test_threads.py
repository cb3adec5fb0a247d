"""How many threads are computed with: as a process was told, else one a core."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnxruntime
import psutil
import pytest

from nymlink.core.environment import compute_threads, thread_limit, usable_cores
from nymlink.encode.encoder import Encoder
from nymlink.index.dense.products import Multiplier


@pytest.mark.parametrize(("told", "limit"), [("1", 1), ("3", 3), ("", None), ("0", None), ("many", None)])
def test_a_process_computes_with_the_threads_it_was_told(
    told: str, limit: int | None, monkeypatch: pytest.MonkeyPatch, forget_encoders: Callable[[], None]
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", told)
    assert thread_limit() == limit
    assert compute_threads() == (limit or usable_cores())
    given: list[int] = []
    session = onnxruntime.InferenceSession

    def opened(graph: object, options: onnxruntime.SessionOptions, **named: object) -> object:
        given.append(options.intra_op_num_threads)
        return session(graph, options, **named)

    monkeypatch.setattr(onnxruntime, "InferenceSession", opened)
    forget_encoders()
    encoder = Encoder.load("nymlink-mini")
    forget_encoders()
    Multiplier(np.ones((2, 2), np.int8))
    # A batch of names has one thread, and as many batches are encoded at once.
    assert given == [1, limit or 0]
    assert encoder.network.at_once == compute_threads()


def test_cores_that_others_have_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(psutil.Process, "cpu_affinity", lambda _: [3], raising=False)
    assert usable_cores() == 1
