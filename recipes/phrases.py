"""Count the phrases that come with nymlink.

    python recipes/phrases.py

Reads the sources of ``benchmarks/linking/counted_phrases.py`` from $NYMLINK_DATA or ../shared/data, prints the
number of phrases from each, and writes ``src/nymlink/index/data/phrases.tsv.gz``.
"""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path
from typing import Final

from benchmarks.common import report
from benchmarks.common.inputs import data_root
from benchmarks.linking.counted_phrases import SOURCES, counted, occurrences
from nymlink.core.store.atomic import atomic_file
from nymlink.index.phrases import write_phrases

_TABLE: Final = Path(__file__).parents[1] / "src" / "nymlink" / "index" / "data" / "phrases.tsv.gz"


def main() -> None:
    """Write the table."""
    found = occurrences(data_root())
    meanings = counted(found)
    mentions = Counter(each.source for each in found)
    pairs = Counter(corpus for own in meanings.values() for times in own.values() for corpus in times)
    rows = [[each.name, each.licence, str(mentions[each.name]), str(pairs[each.name])] for each in SOURCES]
    print(report.table(["source", "licence", "mentions", "phrases with concepts"], rows))
    with atomic_file(_TABLE) as partial:
        # Without a time, so that the same counts make the same file.
        partial.write_bytes(gzip.compress(write_phrases(meanings).encode("utf-8"), compresslevel=9, mtime=0))
    print(f"{len(meanings):,} phrases, {_TABLE.stat().st_size:,} bytes → {_TABLE}")


if __name__ == "__main__":
    main()
