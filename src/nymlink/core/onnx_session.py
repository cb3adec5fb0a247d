"""Sessions of ONNX Runtime, in which encoders run, and products of integers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnxruntime import InferenceSession


def open_session(graph: Path | bytes) -> InferenceSession:
    """A graph ready to be run on the CPU.

    Raises:
        Exception: it cannot be loaded; what the runtime raises has no public base.
    """
    import onnxruntime

    # Imported before nymlink, it has begun to send whatever is said now: this leaves out what is not essential.
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    # What goes wrong is said by the errors that are raised.
    options.log_severity_level = 4
    # By default its threads wait for each other by turning round, at the cost of whatever else could run.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(
        graph,
        options,
        providers=["CPUExecutionProvider"],
        # Its operator for a sum and its normalisation takes longer than the two by themselves.
        disabled_optimizers=["SkipLayerNormFusion"],
    )
