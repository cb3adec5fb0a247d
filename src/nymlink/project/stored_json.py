"""Read JSON that the project wrote, which may have been damaged since."""

from __future__ import annotations

import json
from typing import Any

from nymlink.project.errors import ProjectError


def stored(text: str) -> Any:
    """Read a value.

    Raises:
        ProjectError: it is damaged.
    """
    try:
        return json.loads(text)
    except (ValueError, TypeError, RecursionError) as error:
        raise ProjectError(f"the project file is damaged ({error}): take a copy from before") from error
