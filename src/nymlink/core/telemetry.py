"""Turn off the telemetry of libraries.

They read the environment when they are imported, so importing :mod:`nymlink` does this before any of them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

VARIABLES: Final[Mapping[str, str]] = {
    "ORT_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
}
"""Environment variables that turn telemetry off, each with the value that does.

The first is for ONNX Runtime, whose wheels otherwise store an identifier of the machine in the user's cache and
send it with a description of the machine. The second is for huggingface_hub and transformers, whose requests for a
model otherwise name the program and the installed packages. The third is for Ray, which otherwise sends a
description of the cluster and of the libraries used every hour.
"""


def disable_telemetry() -> None:
    """Turn telemetry off in this process and its child processes, whatever the environment says."""
    os.environ.update(VARIABLES)
