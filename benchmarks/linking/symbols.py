"""Compare linkers on how genes, proteins and chemicals are written: verbatim, case, hyphens, Greek and more.

    python benchmarks/linking/symbols.py [VOCABULARY ...] [--count N] [--encoder MODEL] [--json FILE]

Names of a vocabulary are drawn with a seed, and a variant of each is made (see ``symbol_variants.py``). Where a
variant is verbatim a name of another concept it is left out, and so are names that several concepts have when
neither case nor signs count; but all preferred names that differ from another concept's by nothing else are asked
for verbatim, as "signs, case". All linkers get the same names and queries; right is the first concept. gilda is
installed from PyPI into a temporary virtual environment; where that fails it is left out.

Reads vocabularies/*.tsv.gz of $NYMLINK_DATA or ../shared/data; needs ``nymlink[bench]``.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import floor
from pathlib import Path
from typing import Any, Final

from benchmarks.common import apart, report
from benchmarks.common.inputs import data_root
from benchmarks.linking.symbol_variants import FAMILIES, GENE_FAMILIES
from benchmarks.peers.environments import NotInstalledError, install
from benchmarks.peers.roster import GILDA
from nymlink.encode.model.folder import MINI

VOCABULARIES: Final = {
    "hgnc": "HGNC",
    "ncbigene_human": "NCBI Gene, human",
    "famplex": "FamPlex",
    "pr": "Protein Ontology",
    "chebi": "ChEBI",
    "go": "Gene Ontology",
}
GENES: Final = frozenset({"hgnc", "ncbigene_human", "famplex", "pr"})
"""Those of genes, proteins and their families."""

SIGNS: Final = "signs, case"
SEED: Final = 0
_LOOSE: Final = frozenset({"broad", "narrow"})
"""Kinds of names that are no other name of their concept."""

_EXAMPLES: Final = 2
"""Mistakes shown of each linker and family."""

Line = tuple[str, str, dict[str, Any]]
"""Label of a linker, its function in ``symbol_linkers.py``, further arguments."""

LINES: Final[tuple[Line, ...]] = (
    ("equal but for case", "exact", {}),
    ("rapidfuzz", "rapidfuzz", {}),
    (GILDA, "gilda", {}),
    ("nymlink, no encoder", "nymlink", {"index": "sparse"}),
    ("nymlink", "nymlink", {"index": "default"}),
)


def prepare(vocabulary: str, folder: str, encoders: dict[str, str | None], *, count: int) -> dict[str, Any]:
    """Write the names of a vocabulary and the queries, and build the indexes.

    Args:
        vocabulary: file in the folder of vocabularies, without its ending.
        folder: folder to write to.
        encoders: index → its encoder.
        count: most queries of a family.

    Returns:
        ``asked``: family, gold concept and query of each.
    """
    from nymlink.index.index import Index
    from nymlink.vocabulary.read import read_vocabulary

    read = read_vocabulary(data_root() / "vocabularies" / f"{vocabulary}.tsv.gz")
    for index, encoder in encoders.items():
        Index.build(read, directory=Path(folder) / index, encoder=encoder)
    names = [
        (text, concept, kind)
        for batch in read.name_batches(languages=["en"])
        for text, concept, kind in zip(
            *(batch[field].to_pylist() for field in ("text", "concept", "kind")), strict=True
        )
    ]
    asked = list(_asked(names, gene=vocabulary in GENES, count=count))
    columns = dict(zip(("names", "concepts", "kinds"), map(list, zip(*names, strict=True)), strict=True))
    for what, values in {**columns, "queries": [query for _, _, query in asked]}.items():
        (Path(folder) / f"{what}.json").write_text(json.dumps(values), encoding="utf-8")
    return {"asked": asked, "ids": [read.concept_id(row) for row in range(len(read))]}


def _asked(names: Sequence[tuple[str, int, str]], *, gene: bool, count: int) -> Iterator[tuple[str, int, str]]:
    """Draw the queries: family, concept, text."""
    verbatim, alike, preferred = defaultdict(set), defaultdict(set), defaultdict(set)
    for text, concept, kind in names:
        verbatim[text].add(concept)
        alike[_letters(text)].add(concept)
        if kind == "preferred":
            preferred[_letters(text)].add((text, concept))
    for twins in preferred.values():
        if len({concept for _, concept in twins}) > 1:
            texts = [text for text, _ in twins]
            yield from ((SIGNS, concept, text) for text, concept in sorted(twins) if texts.count(text) == 1)
    drawn = [
        (text, concept)
        for text, concept, kind in names
        if kind not in _LOOSE and alike[_letters(text)] == {concept}
    ]
    for family, vary in ({**FAMILIES, **GENE_FAMILIES} if gene else FAMILIES).items():
        chance = random.Random(f"{SEED} {family}")
        found = 0
        for text, concept in chance.sample(drawn, len(drawn)):
            variant = vary(text, chance)
            if variant is None or verbatim.get(variant, {concept}) != {concept}:
                continue
            if family != "verbatim" and variant in verbatim:
                continue
            yield family, concept, variant
            found += 1
            if found == count:
                break


def _letters(text: str) -> str:
    """Reduce a text to its letters and digits in lower case."""
    return re.sub(r"[\W_]+", "", text.casefold()) or text


def measure(vocabulary: str, folder: str, *, gilda: str | None, encoder: str | None, count: int) -> dict[str, Any]:
    """Count what each linker gets right of each family, with its first mistakes.

    Returns:
        ``counts`` (family → queries), ``right`` (linker → family → how many are right), ``wrong`` (rows).
    """
    encoders = {"sparse": None} | ({} if encoder is None else {"default": encoder})
    prepared = apart.run(
        "linking.symbols:prepare", vocabulary=vocabulary, folder=folder, encoders=encoders, count=count
    )
    asked, ids = prepared["asked"], prepared["ids"]
    families = list(dict.fromkeys(family for family, _, _ in asked))
    right: dict[str, dict[str, int]] = {}
    wrong = []
    for label, function, settings in LINES:
        interpreter = gilda if function == "gilda" else sys.executable
        if interpreter is None or settings.get("index", "sparse") not in encoders:
            continue
        found = apart.run(
            f"linking.symbol_linkers:{function}", interpreter=interpreter, folder=folder, **settings
        )["found"]
        right[label] = dict.fromkeys(families, 0)
        shown = dict.fromkeys(families, 0)
        for (family, gold, query), one in zip(asked, found, strict=True):
            if one is not None and one[0] == gold:
                right[label][family] += 1
            elif shown[family] < _EXAMPLES:
                shown[family] += 1
                says = "nothing" if one is None else f"{ids[one[0]]} {one[1]}"
                wrong.append(
                    {"vocabulary": VOCABULARIES[vocabulary], "family": family, "linker": label}
                    | {"asked": query, "gold": ids[gold], "found": says}
                )
    counts = {family: sum(one == family for one, _, _ in asked) for family in families}
    return {"counts": counts, "right": right, "wrong": wrong}


def tables(result: Mapping[str, Mapping[str, Any]]) -> dict[str, list[dict[str, str]]]:
    """Make the tables: ``families`` of all vocabularies together, ``vocabularies`` with the families of each."""
    linkers = list(dict.fromkeys(label for one in result.values() for label in one["right"]))
    families = [SIGNS, *FAMILIES, *GENE_FAMILIES]

    def row(of: Sequence[Mapping[str, Any]], family: str) -> dict[str, str]:
        asked = sum(one["counts"].get(family, 0) for one in of)
        hits = {label: sum(one["right"][label].get(family, 0) for one in of) for label in linkers}
        return {"asked": f"{asked:,}"} | {label: _percent(hit, asked) for label, hit in hits.items()}

    return {
        "families": [
            {"family": family, **row(list(result.values()), family)}
            for family in families
            if any(family in one["counts"] for one in result.values())
        ],
        "vocabularies": [
            {"vocabulary": VOCABULARIES[name], "family": family, **row([one], family)}
            for name, one in result.items()
            for family in families
            if family in one["counts"]
        ],
    }


def examples(wrong: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """Choose the first mistake of each linker in each family, as a row of its own."""
    first: dict[tuple[str, str], dict[str, str]] = {}
    for row in wrong:
        first.setdefault((row["family"], row["linker"]), dict(row))
    families = [SIGNS, *FAMILIES, *GENE_FAMILIES]
    return sorted(first.values(), key=lambda row: families.index(row["family"]))


def _percent(hits: int, asked: int) -> str:
    """Format a share, rounded down: 100.0 is all."""
    return f"{floor(1000 * hits / asked) / 10:.1f}"


def _written(rows: Sequence[Mapping[str, str]]) -> str:
    return report.table(list(rows[0]), [list(row.values()) for row in rows])


def _gilda(folder: Path) -> str | None:
    """Install gilda, and return the Python that has it; ``None``, with a message, where that fails."""
    try:
        return install(folder, [GILDA])
    except NotInstalledError as error:
        print(f"{GILDA} could not be installed and is left out: {error}", file=sys.stderr)
        return None


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vocabularies", nargs="*", default=list(VOCABULARIES), metavar="VOCABULARY")
    parser.add_argument("--count", type=int, default=500, help="most queries of a family and vocabulary (500)")
    parser.add_argument("--encoder", default=MINI, help="encoder of nymlink: a name or folder; none: no encoder")
    parser.add_argument("--json", type=Path, help="also write the tables to this file")
    arguments = parser.parse_args()
    encoder = None if arguments.encoder == "none" else arguments.encoder
    result = {}
    with tempfile.TemporaryDirectory() as room:
        gilda = _gilda(Path(room) / "gilda")
        for vocabulary in arguments.vocabularies:
            folder = Path(room) / vocabulary
            folder.mkdir()
            result[vocabulary] = measure(
                vocabulary, str(folder), gilda=gilda, encoder=encoder, count=arguments.count
            )
            print(f"{VOCABULARIES[vocabulary]}: {sum(result[vocabulary]['counts'].values()):,}", file=sys.stderr)
    made = tables(result)
    wrong = [row for one in result.values() for row in one["wrong"]]
    shown = [_written(rows) for rows in (made["families"], made["vocabularies"], wrong) if rows]
    print("\n\n".join(shown))
    about = report.about(
        data="names and variants of them, drawn from each vocabulary",
        split=None,
        dictionary=", ".join(VOCABULARIES[name] for name in result),
        counting="Acc@1 by concept, rounded down",
        encoder=arguments.encoder,
        seed=SEED,
    )
    report.save(arguments.json, {"about": about, **made, "examples": examples(wrong), "wrong": wrong})


if __name__ == "__main__":
    main()
