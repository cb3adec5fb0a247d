"""``python benchmarks/peers``: see :mod:`peers.run`."""

import sys
from pathlib import Path

# The folder of the scripts, as for those that stand in it.
sys.path[0] = str(Path(__file__).parents[1])

if __name__ == "__main__":
    from peers.run import main

    main()
