"""Two runs side by side, from what `nymlink evaluate --json` wrote."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nymlink.errors import InputError
from nymlink.evaluate.metrics import as_array
from nymlink.evaluate.significance import McNemar, mcnemar


def compare(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, McNemar]:
    """McNemar's exact test on accuracy at 1, by name and by concept, of two runs over the same mentions.

    Args:
        first: :meth:`~nymlink.evaluate.evaluation.Evaluation.to_dict` of one run.
        second: that of the other.

    Raises:
        InputError: they are not evaluations, or not of the same mentions.
    """
    try:
        mentions = [run["mentions"] for run in (first, second)]
        if mentions[0]["fingerprint"] != mentions[1]["fingerprint"]:
            raise InputError("the two runs scored different mentions: evaluate both on the same corpus")
        ranks = {name: [as_array(run[f"{name}_ranks"]) for run in mentions] for name in ("name", "concept")}
        return {
            "acc@1": mcnemar(*(values < 1 for values in ranks["name"])),
            "concept_acc@1": mcnemar(*(values < 1 for values in ranks["concept"])),
        }
    except (KeyError, TypeError, ValueError) as error:
        raise InputError("not an evaluation written by nymlink evaluate --json") from error
