"""Run a function in a process of its own, so that its peak memory is its own.

``run("search.contenders:sparse", index=…, k=20)`` calls ``sparse(index=…, k=20)`` of
``benchmarks/search/contenders.py`` in a fresh interpreter. Arguments and results travel as JSON.

The kernel counts the memory of a parent process at the start as that of its child. So the scripts that call this
import nothing large: numpy, nymlink and the peers are imported by the functions that measure them.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any


def run(
    function: str, *, interpreter: str = sys.executable, patience: float | None = None, **arguments: Any
) -> dict[str, Any]:
    """Return the function's result, with the peak resident memory of its process under ``peak_mb`` (Linux).

    Args:
        function: room, module and name.
        interpreter: the Python that runs it, where it needs packages that this one lacks.
        patience: seconds after which it is ended (``subprocess.TimeoutExpired``); ``None`` for no end.
        arguments: arguments of the function.
    """
    command = [interpreter, __file__, function, json.dumps(arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=patience)
    # Libraries may print as well, before the function is done.
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def main() -> None:
    # In the place of this folder: a Python that has other packages does not know where the repository is.
    sys.path[0] = str(Path(__file__).parents[2])
    module, _, function = sys.argv[1].partition(":")
    result = getattr(import_module(f"benchmarks.{module}"), function)(**json.loads(sys.argv[2]))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({**result, "peak_mb": peak}))


if __name__ == "__main__":
    main()
