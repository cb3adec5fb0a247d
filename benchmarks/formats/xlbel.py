"""How fast is a Wikipedia dump read, and in how much memory?

    python benchmarks/formats/xlbel.py DUMP [--repeats 5 20] [--shares 1 0.1 0.01] [--json FILE]

DUMP is a bzip2 dump of some hundred pages, such as the part of the English Wikipedia among gensim's test data.
Its pages are repeated to make larger dumps, of a hundred pages a stream. The table of pages has a share of all
targets of links, drawn by their hashes: with all of them, every page must be turned into text. Rates are of XML,
decompressed, for each second of one core.
"""

from __future__ import annotations

import argparse
import bz2
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import zlib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.common import report
from nymlink.xlbel.build import BuildCounts
from nymlink.xlbel.dump import DumpReader, normalise_title, read_site
from nymlink.xlbel.wikitext import link_targets, parse_lines

_BUILD = (
    "import sys, json; from nymlink.xlbel.build import build_benchmark; "
    "print(json.dumps(build_benchmark(*sys.argv[1:4]).to_dict())); "
    # Not ``ru_maxrss``, which begins with what the process was forked from.
    "print([line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')][0])"
)


def repeated(dump: Path, output: Path, repeats: int) -> int:
    """Write a dump with its pages repeated; return the bytes of its XML."""
    head, begin, rest = bz2.decompress(dump.read_bytes()).partition(b"  <page>")
    pages = re.findall(rb"  <page>.*?</page>\n", begin + rest, re.DOTALL)
    streams = [b"".join(pages[start : start + 100]) for start in range(0, len(pages), 100)]
    packed = b"".join(map(bz2.compress, streams))
    foot = b"</mediawiki>\n"
    output.write_bytes(bz2.compress(head) + packed * repeats + bz2.compress(foot))
    return len(head) + repeats * sum(map(len, streams)) + len(foot)


def write_table(dump: Path, output: Path, share: float) -> int:
    """Write a table of a share of all pages that are linked to; return their number."""
    titles = {normalise_title(target) for page in DumpReader(dump) for target in link_targets(page.text)}
    drawn = sorted(title for title in titles if title and zlib.crc32(title.encode()) < share * 2**32)
    output.write_text(
        "".join(f'"{title.replace(chr(34), "")}",C{n}\n' for n, title in enumerate(drawn)), encoding="utf-8"
    )
    return len(drawn)


def built(dump: Path, table: Path, output: Path) -> tuple[BuildCounts, float, float]:
    """Build in a process of its own: what was read, seconds of its processor, and its peak memory in MB."""
    command = [sys.executable, "-c", _BUILD, str(dump), str(table), str(output)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    counts, peak = process.stdout.read().splitlines()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return BuildCounts(**json.loads(counts)), usage.ru_utime + usage.ru_stime, int(peak) / 1024


def row(label: str, size: float, seconds: float, **more: Any) -> dict[str, Any]:
    """Return a row of the result."""
    return {
        "what": label,
        "MB of XML": round(size / 1e6),
        "MB/s": f"{size / 1e6 / seconds:.1f}",
        "GB/hour": f"{size / 1e9 / seconds * 3600:.0f}",
        **{"pages read": "", "pages with links": "", "mentions": "", "peak MB": ""},
        **more,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dump", type=Path)
    parser.add_argument("--repeats", type=int, nargs="+", default=[5, 20])
    parser.add_argument("--shares", type=float, nargs="+", default=[1, 0.1, 0.01])
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows = []
    start = time.process_time()
    xml = bz2.decompress(arguments.dump.read_bytes())
    rows.append(row("bzip2 alone, once", len(xml), time.process_time() - start))
    site, texts = read_site(arguments.dump), [page.text for page in DumpReader(arguments.dump)]
    size = sum(len(text.encode()) for text in texts)
    start = time.process_time()
    for text in texts:
        list(parse_lines(text, site, link_targets(text)))
    rows.append(row("wikitext alone, every line with a link", size, time.process_time() - start))
    if find_spec("mwparserfromhell"):
        import mwparserfromhell

        start = time.process_time()
        for text in texts:
            mwparserfromhell.parse(text)
        rows.append(row("the same texts with mwparserfromhell", size, time.process_time() - start))
    with tempfile.TemporaryDirectory() as folder:
        dump, table = Path(folder, "dump.xml.bz2"), Path(folder, "pages.csv")
        for share in arguments.shares:
            number = write_table(arguments.dump, table, share)
            for repeats in arguments.repeats:
                size = repeated(arguments.dump, dump, repeats)
                counts, seconds, peak = built(dump, table, Path(folder, "en_test.txt"))
                label = f"build, {number:,} pages in the table"
                more = {
                    "pages read": counts.pages,
                    "pages with links": counts.parsed,
                    "mentions": counts.mentions,
                    "peak MB": round(peak),
                }
                rows.append(row(label, size, seconds, **more))
                print(rows[-1], file=sys.stderr)
    header = list(rows[0])
    text = report.table(
        header,
        [[f"{line[name]:,}" if isinstance(line[name], int) else line[name] for name in header] for line in rows],
    )
    print(text)
    report.publish(
        arguments.json,
        text,
        ["rates"],
        data=f"{arguments.dump.name}, its pages repeated",
        split=None,
        dictionary=None,
        counting="XML, decompressed, for each second of one core, start and table included",
        seed=0,
    )


if __name__ == "__main__":
    main()
