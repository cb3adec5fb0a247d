"""Turn off the telemetry of libraries.

They read the environment when they are imported, so importing :mod:`nymlink` does this before any of them.
"""

from __future__ import annotations

import os
from typing import Final

VARIABLES: Final = ("ORT_DISABLE_TELEMETRY", "HF_HUB_DISABLE_TELEMETRY")
"""Environment variables that turn telemetry off.

The first is for ONNX Runtime, whose wheels otherwise store an identifier of the machine in the user's cache and
send it with a description of the machine. The second is for huggingface_hub and transformers, whose requests for a
model otherwise name the program and the installed packages.
"""


def disable_telemetry() -> None:
    """Turn telemetry off in this process and its child processes, whatever the environment says."""
    for variable in VARIABLES:
        os.environ[variable] = "1"
