"""Turn off the telemetry of libraries.

They ask the environment when they are imported, so this comes before any of them: importing :mod:`nymlink` does
it.
"""

from __future__ import annotations

import os
from typing import Final

VARIABLES: Final = ("ORT_DISABLE_TELEMETRY", "HF_HUB_DISABLE_TELEMETRY")
"""That of ONNX Runtime: without it, its wheels write an identifier of the machine to the user's cache, and send it
with what they run on. That of huggingface_hub, which transformers heeds too: without it, requests for a model tell
what else is installed, and which program asks."""


def disable_telemetry() -> None:
    """Turn telemetry off in this process and those that it starts, whatever the environment says."""
    for variable in VARIABLES:
        os.environ[variable] = "1"
