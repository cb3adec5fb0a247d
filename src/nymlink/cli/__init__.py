"""The command line: each command parses its arguments, calls one function and prints the result.

Exit status: 0 done, 1 some input was rejected (and reported), 2 unusable arguments or input.
"""

from __future__ import annotations

import io
import sys

from nymlink.cli.lazy import TopCommand
from nymlink.core.terminal import EscapingWriter


def main() -> None:
    """Run the command line."""
    if sys.stdout is None:
        print("Error: standard output is closed", file=sys.stderr)
        sys.exit(2)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Links are UTF-8, independent of the terminal's settings. Bytes outside UTF-8 are written unchanged,
        # except on a terminal, which could take them for a command.
        if sys.stdout.isatty():
            sys.stdout = EscapingWriter(sys.stdout.detach(), encoding="utf-8", line_buffering=True)
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
      nymlink link --index mondo-index --file mentions.txt -o links.tsv

    \b
    Find mentions in free text:
      nymlink annotate letter.txt --index mondo-index

    \b
    Measure it:
      nymlink evaluate --index mondo-index --corpus corpus.PubTator.txt
    """,
    groups={
        "Vocabularies and indexes": {
            "vocab": "nymlink.cli.vocab:vocab",
            "index": "nymlink.cli.index:index",
            "match": "nymlink.cli.match:match",
        },
        "Linking": {
            "link": "nymlink.cli.link.link:link",
            "annotate": "nymlink.cli.annotate:annotate",
            "bulk": "nymlink.cli.bulk:bulk",
            "serve": "nymlink.cli.serve:serve",
            "project": "nymlink.cli.project:project",
            "check": "nymlink.cli.coded:check",
            "relink": "nymlink.cli.coded:relink",
            "recode": "nymlink.cli.coded:recode",
        },
        "Measuring": {
            "evaluate": "nymlink.cli.evaluate:evaluate",
            "calibrate": "nymlink.cli.evaluate:calibrate",
            "plot": "nymlink.cli.plot:plot",
            "xlbel": "nymlink.cli.xlbel:xlbel",
        },
        "Training": {
            "adapt": "nymlink.cli.adapt:adapt_command",
            "train": "nymlink.cli.train:train",
            "rerank": "nymlink.cli.rerank:rerank",
            "pairs": "nymlink.cli.pairs:pairs",
            "encoder": "nymlink.cli.encoder:encoder",
        },
        "Other": {"verify": "nymlink.cli.verify:verify"},
    },
)
