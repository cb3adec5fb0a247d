"""Two runs side by side, from what `nymlink evaluate --output` wrote."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from nymlink.core.errors import InputError
from nymlink.core.json_objects import member
from nymlink.evaluation.metrics import Ranks, as_array
from nymlink.evaluation.significance import McNemar, mcnemar

_NO_RUN: Final = "not an evaluation written by nymlink evaluate --output"


def read_run(path: Path) -> dict[str, Any]:
    """Read an evaluation that `nymlink evaluate --output` wrote.

    Raises:
        InputError: the file cannot be opened or holds something else.
    """
    try:
        run: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot be opened: {error.strerror or error}", path=path) from error
    except (ValueError, RecursionError) as error:
        raise InputError(_NO_RUN, path=path) from error
    # Only an evaluation can be compared with itself.
    compare(run, run, path=path)
    return run


def compare(
    first: Mapping[str, Any], second: Mapping[str, Any], *, path: Path | None = None
) -> dict[str, McNemar]:
    """Compare the accuracies at 1 of two runs over the same mentions, by McNemar's exact test.

    Args:
        first: the :meth:`~nymlink.evaluation.evaluation.Evaluation.to_dict` of one run.
        second: the same of the other run.
        path: the file that the second comes from, for messages.

    Raises:
        InputError: they are not evaluations, or not of the same mentions.
    """
    try:
        mentions = [member(run, "mentions", dict) for run in (first, second)]
        fingerprints = {member(run, "fingerprint", str) for run in mentions}
        ranks = {name: [_ranks(run, name) for run in mentions] for name in ("name", "concept")}
        if any(left.shape != right.shape for left, right in ranks.values()) and len(fingerprints) == 1:
            raise ValueError("the same mentions, but not as many")
    except (ValueError, OverflowError) as error:
        raise InputError(_NO_RUN, path=path) from error
    if len(fingerprints) > 1:
        raise InputError("the two runs scored different mentions: evaluate both on the same corpus", path=path)
    return {
        "acc@1": mcnemar(*(values < 1 for values in ranks["name"])),
        "concept_acc@1": mcnemar(*(values < 1 for values in ranks["concept"])),
    }


def _ranks(mentions: Mapping[str, Any], name: str) -> Ranks:
    ranks = member(mentions, f"{name}_ranks", list)
    if not all(rank is None or isinstance(rank, int | float) for rank in ranks):
        raise ValueError(f"{name}_ranks are no numbers")
    return as_array(ranks)
