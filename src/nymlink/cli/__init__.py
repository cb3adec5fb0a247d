"""The command line: doors that parse, call one function and print.

Exit status: 0 done, 1 some input was rejected (and reported), 2 unusable arguments or input.
"""

from __future__ import annotations

import io
import sys

from nymlink.cli.lazy import TopCommand
from nymlink.core.visible import VisibleText


def main() -> None:
    """Run the command line."""
    if sys.stdout is None:
        print("Error: standard output is closed", file=sys.stderr)
        sys.exit(2)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Links are UTF-8 whatever the terminal's settings; what came in undecodable goes out as it came, but shown
        # to a terminal, which could take it for a command.
        if sys.stdout.isatty():
            sys.stdout = VisibleText(sys.stdout.detach(), encoding="utf-8", line_buffering=True)
        else:
            sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
    nymlink()


nymlink = TopCommand(
    "nymlink",
    help="""Resolve biomedical names to concepts of any ontology.

    \b
    Link to the embedded default, the Human Phenotype Ontology:
      nymlink link "short stature" "seizures"

    \b
    Link to a vocabulary of your own:
      nymlink vocab build mondo.obo -o mondo
      nymlink index build mondo -o mondo-index
      nymlink link --index mondo-index --file mentions.txt > links.tsv

    \b
    Measure it:
      nymlink evaluate --index mondo-index --corpus corpus.PubTator.txt
    """,
    commands={
        "vocab": "nymlink.cli.vocab:vocab",
        "index": "nymlink.cli.index:index",
        "link": "nymlink.cli.link:link",
        "evaluate": "nymlink.cli.evaluate:evaluate",
        "calibrate": "nymlink.cli.calibrate:calibrate",
        "rerank": "nymlink.cli.rerank:rerank",
        "pairs": "nymlink.cli.pairs:pairs",
        "encoder": "nymlink.cli.encoder:encoder",
        "train": "nymlink.cli.train:train",
        "verify": "nymlink.cli.verify:verify",
        "plot": "nymlink.cli.plot:plot",
    },
)
