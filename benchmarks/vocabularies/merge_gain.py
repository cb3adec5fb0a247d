"""Measure the gain of merging the open vocabularies: synonym pairs and reachable UMLS CUIs, before and after.

    python benchmarks/vocabularies/merge_gain.py --report why

The vocabularies are the tables of ``$NYMLINK_DATA/vocabularies``, in the order below, the mappings all SSSOM files
under ``native``. Merged twice: without the mappings, and with them.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any, Final

from benchmarks.common import apart, report
from benchmarks.common.inputs import data_root

# The most authoritative first: curated ontologies, then derived, narrow and crowd-sourced tables.
ORDER: Final = (
    "mondo doid hpo ncit ordo mesh gard nando symp mf chebi go hgnc ncbigene_human uberon cl pr ncbitaxon so pato "
    "maxo obi eco efo envo ecto foodon oba vt cmo oae vo cvx cido nbo mpath bto clo cellosaurus_human psimod ec "
    "complexportal famplex hgnc_genegroup hancestro neuronames mouse_zebrafish_anatomy icd10cm icd10pcs "
    "pubchem_subset wikidata_medical drugcentral pharmgkb_drug"
).split()


def gain(data: str, directory: str, *, mapped: bool, sample: int, seed: int) -> dict[str, Any]:
    """Merge all tables; return the figures before and after, and the time."""
    from nymlink.vocabulary.mappings import read_mappings
    from nymlink.vocabulary.merge.merge import VocabularyCounts, merge
    from nymlink.vocabulary.merge.report import summary, write_report
    from nymlink.vocabulary.read import read_vocabulary

    start = time.perf_counter()
    root = Path(data)
    paths = sorted(root.glob("native/**/*.sssom.tsv.gz")) if mapped else []
    mapping_sets = [read_mappings(path) for path in paths]
    vocabularies = [read_vocabulary(root / "vocabularies" / f"{name}.tsv.gz") for name in ORDER]
    read = time.perf_counter()
    merged = merge(vocabularies, mapping_sets)
    end = time.perf_counter()
    if directory:
        write_report(merged, Path(directory), sample=sample, seed=seed)
    best = max(zip((VocabularyCounts.of(one).cuis for one in vocabularies), ORDER, strict=True))
    return {
        **summary(merged),
        "best_table": {"name": best[1], "cuis": best[0]},
        "members_with_cui": members_with_cui(merged),
        "distinct_pairs": distinct_pairs(merged),
        "read_seconds": read - start,
        "merge_seconds": end - read,
    }


def members_with_cui(merged: Any) -> dict[str, int]:
    """Count the concepts of the sources with a CUI, before and after merging."""
    from nymlink.vocabulary.merge.merge import count_cuis

    before, after = count_cuis(merged.unmerged)[1], count_cuis(merged.vocabulary)[1]
    merged_id = {row: id_ for rows, id_ in zip(merged.clusters.members, merged.ids, strict=True) for row in rows}
    reached = sum(bool(after[merged.vocabulary.row(id_)]) for id_ in merged_id.values())
    alone = sum(bool(found) for row, found in enumerate(before) if row not in merged_id)
    return {"before": int(before.sum()), "after": alone + reached}


def distinct_pairs(merged: Any) -> dict[str, int]:
    """Count distinct pairs of English names over all concepts, and the new ones among them."""
    import numpy as np
    import pyarrow.compute as pc

    known = pc.unique(pc.utf8_lower(merged.unmerged.columns.names["text"]))
    before, after = (pairs(one, known) for one in (merged.unmerged, merged.vocabulary))
    return {
        "before": len(before),
        "after": len(after),
        "new": len(np.setdiff1d(after, before, assume_unique=True)),
    }


def pairs(vocabulary: Any, known: Any) -> Any:
    """Number the distinct pairs of English names of one concept, lower-cased.

    Args:
        vocabulary: the vocabulary.
        known: all names, lower-cased.

    Returns:
        int64, ascending: the place of one name in ``known``, times their number, plus that of a later one.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    names = vocabulary.columns.names
    langs = names["lang"].cast(pa.string())
    names = names.filter(pc.or_(pc.equal(langs, "en"), pc.starts_with(langs, "en-")))
    codes = pc.index_in(pc.utf8_lower(names["text"]), value_set=known).to_numpy().astype(np.int64)
    owned = np.unique(names["concept"].to_numpy().astype(np.int64) * len(known) + codes)
    owners, codes = owned // len(known), owned % len(known)
    _, starts, sizes = np.unique(owners, return_index=True, return_counts=True)
    found = [np.zeros(0, np.int64)]
    for size in np.unique(sizes):
        rows = codes[starts[sizes == size][:, None] + np.arange(size)]
        one, other = np.triu_indices(size, 1)
        found.append((rows[:, one] * len(known) + rows[:, other]).ravel())
    return np.unique(np.concatenate(found))


def text(results: dict[str, dict[str, Any]]) -> str:
    """Format the results as a table."""
    first = next(iter(results.values()))
    figures = (
        ("concepts", "concepts"),
        ("names", "names"),
        ("several_english", "concepts with two or more English names"),
        ("pairs", "pairs of English names, by concept"),
        ("pairs_capped", "the same, at most 50 of a concept"),
        ("cuis", "UMLS CUIs"),
        ("names_with_cui", "names from which a CUI is reached"),
    )
    rows = [
        [label, f"{first['before'][key]:,}", *(f"{result['after'][key]:,}" for result in results.values())]
        for key, label in figures
    ]
    for key, label in (
        ("distinct_pairs", "pairs of English names, each once"),
        ("members_with_cui", "concepts of the tables from which a CUI is reached"),
    ):
        values = [f"{result[key]['after']:,}" for result in results.values()]
        rows.append([label, f"{first[key]['before']:,}", *values])
    rows.append(
        [
            "languages",
            str(len(first["before"]["languages"])),
            *(str(len(result["after"]["languages"])) for result in results.values()),
        ]
    )
    lines = [report.table(("", "unmerged", *results), rows), ""]
    lines.append(f"most CUIs in one table: {first['best_table']['cuis']:,} ({first['best_table']['name']})")
    for label, result in results.items():
        lines.append(
            f"{label}: {result['merged']['members']:,} concepts became {result['merged']['concepts']:,}; "
            f"{result['distinct_pairs']['new']:,} new pairs; reading {result['read_seconds']:.0f} s, "
            f"merging {result['merge_seconds']:.0f} s, peak {result['peak_mb']:,.0f} MB"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--report", type=Path, help="directory for the reasons of the joins with mappings")
    parser.add_argument("--sample", type=int, default=100, help="merged concepts drawn for the report")
    parser.add_argument("--seed", type=int, default=0, help="of the draw")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    common = {"data": str(data_root()), "sample": arguments.sample, "seed": arguments.seed}
    results = {
        "without mappings": apart.run("vocabularies.merge_gain:gain", directory="", mapped=False, **common),
        "merged": apart.run(
            "vocabularies.merge_gain:gain", directory=str(arguments.report or ""), mapped=True, **common
        ),
    }
    print(text(results))
    report.publish(
        arguments.json,
        text(results),
        ["counts"],
        data="53 open vocabularies",
        split=None,
        dictionary=None,
        seed=arguments.seed,
        figures=results,
    )


if __name__ == "__main__":
    main()
