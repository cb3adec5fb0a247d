"""What was damaged before its digest was taken, or on purpose, is refused or does no harm: it crashes nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary

pytestmark = pytest.mark.large

_FLIPS: Final = 60
"""Of each of the tables, and of all arrays together."""

_CODE: Final = """
import json, random, sys
from pathlib import Path
from nymlink.core.errors import NymlinkError
from nymlink.index.index import Index
from nymlink.core.store.manifest import seal
from nymlink.pairs.pairs import Pairs
from nymlink.vocabulary.subset import subset
from nymlink.vocabulary.vocabulary import Vocabulary

def use(vocabulary):
    for concept in vocabulary:
        vocabulary.names(concept.id, lang="en"), vocabulary.resolve(concept.id), vocabulary.ancestors(concept.id)
    for text in ("name 3", "x", "O:1"):
        vocabulary.find(text), vocabulary.containing(text, limit=3), vocabulary.resolve(text)
    vocabulary.counts("kind"), vocabulary.semantic_types()
    Pairs.of(vocabulary).batch(0, 5)
    subset(vocabulary, languages=["en"]).save(folder.parent / "part")
    Index.build(vocabulary, encoder=None).match(["name 4", "nam"], 3)

folder, most = Path(sys.argv[1]), int(sys.argv[2])
manifest, drawn = json.loads((folder / "manifest.json").read_text()), random.Random(0)
files = [folder / name for name in sys.argv[3:]]
arrays = sum(file.suffix == ".npy" for file in files)
for file in files:
    print(file.name, flush=True)
    whole, refused, flips = file.read_bytes(), 0, most // arrays if file.suffix == ".npy" else most
    for _ in range(flips):
        data = bytearray(whole)
        data[drawn.randrange(len(data))] ^= 1 << drawn.randrange(8)
        file.write_bytes(data)
        seal(folder, manifest)
        try:
            use(Vocabulary.load(folder))
        except NymlinkError:
            refused += 1
    assert refused > 0
    file.write_bytes(whole)
"""


def test_flipped_bits_under_right_digests_crash_nothing(tmp_path: Path) -> None:
    builder = TableBuilder()
    builder.redirect("O:1", "A:1")
    for number in range(12):
        builder.concept(
            f"A:{number}", definition="what it is", parents=["A:0"], semantic_types=["t"], xrefs=["x:1"]
        )
        builder.name(f"A:{number}", f"name {number}", lang="en", kind="preferred")
        builder.name(f"A:{number}", f"other name {number}", lang="en")
        builder.name(f"A:{number}", f"心 {number}", lang="zh")
    Vocabulary.of((Source("s", "table"), builder.build())).save(tmp_path / "v")
    files = sorted(path.name for path in (tmp_path / "v").iterdir() if path.suffix in (".arrow", ".npy"))
    assert {"concepts.arrow", "names.arrow", "redirects.arrow"} < set(files)
    done = subprocess.run(
        [sys.executable, "-c", _CODE, str(tmp_path / "v"), str(_FLIPS), *files],
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, (done.stdout, done.stderr[-2000:])
    assert done.stdout.split() == files
