"""Sessions of ONNX Runtime, which run encoders and integer matrix products."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nymlink.core.computing.threads import thread_limit

if TYPE_CHECKING:
    from onnxruntime import InferenceSession


def open_session(graph: Path | bytes) -> InferenceSession:
    """Load a graph (a file or its bytes) to run on the CPU.

    Raises:
        Exception: the graph cannot be loaded; the runtime's errors have no public base class.
    """
    import onnxruntime

    # If onnxruntime was imported before nymlink, telemetry is on by now: this stops all events but essential ones.
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    # No log: errors are raised.
    options.log_severity_level = 4
    # 0: one a core. The runtime does not look at the environment itself.
    options.intra_op_num_threads = thread_limit() or 0
    # By default its idle threads spin, which takes cores from everything else.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(
        graph,
        options,
        providers=["CPUExecutionProvider"],
        # The fused operator is slower than addition and layer normalisation apart.
        disabled_optimizers=["SkipLayerNormFusion"],
    )
