"""Make the synonym pairs that nymlink-mini learns from."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.pairs.pairs import PAIRS, Pairs
from nymlink.text.normalise import normalise
from nymlink.vocabulary.mappings import read_mappings
from nymlink.vocabulary.merge.merge import merge
from nymlink.vocabulary.read import read_vocabulary
from nymlink.vocabulary.vocabulary import Vocabulary

TABLES: Final = (
    "mondo doid hpo ncit ordo mesh gard nando symp mf chebi go hgnc ncbigene_human uberon cl pr ncbitaxon so pato "
    "maxo obi eco envo ecto foodon oba vt cmo oae vo cvx cido nbo mpath bto clo cellosaurus_human psimod ec "
    "complexportal famplex hgnc_genegroup hancestro neuronames mouse_zebrafish_anatomy icd10cm icd10pcs "
    "pubchem_subset wikidata_medical"
).split()
"""Tables under CC0, CC BY, the HPO licence or in the public domain; the most authoritative first."""

CAP: Final = 10
"""Most pairs of a concept."""

MODIFIED: Final = 0.15
"""Share of the pairs of clinical concepts in which one name gets a modifier that vocabularies do not have, as in
mentions: "severe hyperplasia" is annotated with "hyperplasia"."""

_CLINICAL: Final = frozenset("MONDO DOID MESH NCIT Orphanet GARD HP MF SYMP NANDO Wikidata ICD10CM".split())
"""Prefixes of vocabularies of clinical concepts."""

_MODIFIERS: Final = (
    "severe progressive sporadic familial hereditary inherited mild chronic acute bilateral recurrent primary "
    "secondary congenital childhood idiopathic early-onset late-onset advanced drug-induced transient persistent "
    "atypical multiple juvenile adult adult-onset isolated unilateral symptomatic classic typical common rare "
    "experimental diffuse clinical complete partial mixed nonspecific"
).split()

_COLLECTED: Final = "wikidata_medical"
"""Table in which titles were cut at their commas: "renal" for "hypomagnesemia 6, renal"."""

_MANY: Final = 3

_TAGS: Final = re.compile(
    r"\s*\((?:disorder|disease|morphologic abnormality|finding|substance|body structure|qualifier value)\)$"
)
_BLOCK: Final = 1 << 16


def merged(data: Path) -> Vocabulary:
    """Merge the tables into one vocabulary, along all mappings whose licence allows it."""
    mappings = [path for path in sorted(data.glob("native/**/*.sssom.tsv.gz")) if "pharmgkb" not in path.name]
    tables = [read_vocabulary(data / "vocabularies" / f"{name}.tsv.gz") for name in TABLES]
    return merge(tables, [read_mappings(path) for path in mappings]).vocabulary


def mixture(
    vocabulary: Vocabulary,
    *,
    seed: int = 0,
    cap: int = CAP,
    kinds: Collection[str] | None = None,
    modified: float = MODIFIED,
) -> pa.Table:
    """Make pairs of English names, prepared as for search, with the columns of :data:`PAIRS`.

    Args:
        vocabulary: vocabulary of the names.
        seed: seed of all that is drawn.
        cap: most pairs of a concept.
        kinds: names of these kinds only; all but narrow and broad if ``None``.
        modified: see :data:`MODIFIED`.
    """
    pairs = Pairs.of(vocabulary, cap=cap, seed=seed, languages=["en"], kinds=kinds)
    seen = dict[tuple[str, str, str], None]()
    for concept, left, right in _rows(pairs, fragments(vocabulary)):
        if left and right and left != right and (concept, right, left) not in seen:
            seen[concept, left, right] = None
    names = {name for _, *pair in seen for name in pair}
    draw = random.Random(seed)
    rows = [(concept, left, _modified(concept, right, names, modified, draw)) for concept, left, right in seen]
    return pa.table([list(column) for column in zip(*rows, strict=True)], schema=PAIRS)


def _modified(concept: str, name: str, names: Collection[str], share: float, draw: random.Random) -> str:
    """Prefix a share of the names with a modifier, unless that makes another name."""
    if concept.partition(":")[0] not in _CLINICAL or draw.random() >= share:
        return name
    modified = f"{draw.choice(_MODIFIERS).replace('-', ' ')} {name}"
    return name if modified in names else modified


def fragments(vocabulary: Vocabulary) -> npt.NDArray[np.bool_]:
    """Find names that are only fragments of names, in the table that has such synonyms: bool (name rows).

    A fragment is a name that several concepts share, or whose words all occur in another name of its concept: a
    single word, or a part between commas.
    """
    columns = vocabulary.columns
    texts = columns.names["text"].to_pylist()
    owners, offsets = columns.names["concept"].to_pylist(), columns.name_offsets.tolist()
    collected = np.flatnonzero(pc.equal(columns.names["source"].cast(pa.string()), _COLLECTED).to_numpy())
    shared = Counter(form for _, form in {(owners[row], normalise(texts[row])) for row in collected.tolist()})
    is_fragment = np.zeros(len(texts), bool)
    for row in collected.tolist():
        form = normalise(texts[row])
        words = set(form.split())
        first, last = offsets[owners[row] : owners[row] + 2]
        is_fragment[row] = shared[form] >= _MANY or any(
            words < set(normalise(other).split()) and (len(words) == 1 or "," in other)
            for other in texts[first:last]
        )
    return is_fragment


def _rows(pairs: Pairs, is_fragment: npt.NDArray[np.bool_]) -> Iterator[tuple[str, str, str]]:
    for start in range(0, len(pairs), _BLOCK):
        stop = min(start + _BLOCK, len(pairs))
        _, left_rows, right_rows = pairs.rows(start, stop)
        usable = ~(is_fragment[left_rows] | is_fragment[right_rows])
        batch = pairs.batch(start, stop).filter(pa.array(usable))
        for concept, *names in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            left, right = (normalise(_TAGS.sub("", name)) for name in names)
            yield concept, left, right
