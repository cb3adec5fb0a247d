"""The synonym pairs that nymlink-mini learns from."""

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
"""Those under CC0, CC BY, the HPO licence or in the public domain; the most authoritative first."""

CAP: Final = 10
"""Pairs of a concept."""

MODIFIED: Final = 0.15
"""Of the pairs that clinicians speak of, the share in which one name gets a word that vocabularies do not have
beside it: what is annotated as "hyperplasia" is called "severe hyperplasia"."""

_CLINICAL: Final = frozenset("MONDO DOID MESH NCIT Orphanet GARD HP MF SYMP NANDO Wikidata ICD10CM".split())
"""The prefixes of concepts of which clinicians speak."""

_MODIFIERS: Final = (
    "severe progressive sporadic familial hereditary inherited mild chronic acute bilateral recurrent primary "
    "secondary congenital childhood idiopathic early-onset late-onset advanced drug-induced transient persistent "
    "atypical multiple juvenile adult adult-onset isolated unilateral symptomatic classic typical common rare "
    "experimental diffuse clinical complete partial mixed nonspecific"
).split()

_COLLECTED: Final = "wikidata_medical"
"""The table in which titles were cut at their commas: "renal" for "hypomagnesemia 6, renal"."""

_MANY: Final = 3

_TAGS: Final = re.compile(
    r"\s*\((?:disorder|disease|morphologic abnormality|finding|substance|body structure|qualifier value)\)$"
)
_BLOCK: Final = 1 << 16


def merged(data: Path) -> Vocabulary:
    """The tables as one vocabulary, merged along all mappings whose licence allows it."""
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
    """Pairs of English names, in the form in which they are searched, with the columns of :data:`PAIRS`.

    Args:
        vocabulary: whose names.
        seed: of all that is drawn.
        cap: most pairs of a concept.
        kinds: names of these kinds only; all but narrow and broad if ``None``.
        modified: see :data:`MODIFIED`.
    """
    pairs = Pairs.of(vocabulary, cap=cap, seed=seed, languages=["en"], kinds=kinds)
    seen = dict[tuple[str, str, str], None]()
    for concept, one, other in _rows(pairs, fragments(vocabulary)):
        if one and other and one != other and (concept, other, one) not in seen:
            seen[concept, one, other] = None
    names = {name for _, *pair in seen for name in pair}
    draw = random.Random(seed)
    rows = [(concept, one, _modified(concept, other, names, modified, draw)) for concept, one, other in seen]
    return pa.table([list(column) for column in zip(*rows, strict=True)], schema=PAIRS)


def _modified(concept: str, name: str, names: Collection[str], share: float, draw: random.Random) -> str:
    """A name, now and then with a word before it, unless that makes another name."""
    if concept.partition(":")[0] not in _CLINICAL or draw.random() >= share:
        return name
    modified = f"{draw.choice(_MODIFIERS).replace('-', ' ')} {name}"
    return name if modified in names else modified


def fragments(vocabulary: Vocabulary) -> npt.NDArray[np.bool_]:
    """Which names are but pieces of names, where such pieces were collected as synonyms: bool (name rows).

    That is a name of which several concepts have one, or all whose words another name of its concept has: a single
    word, or one of several between commas.
    """
    columns = vocabulary.columns
    texts = columns.names["text"].to_pylist()
    owners, offsets = columns.names["concept"].to_pylist(), columns.name_offsets.tolist()
    collected = np.flatnonzero(pc.equal(columns.names["source"].cast(pa.string()), _COLLECTED).to_numpy())
    shared = Counter(form for _, form in {(owners[row], normalise(texts[row])) for row in collected.tolist()})
    found = np.zeros(len(texts), bool)
    for row in collected.tolist():
        form = normalise(texts[row])
        words = set(form.split())
        first, last = offsets[owners[row] : owners[row] + 2]
        found[row] = shared[form] >= _MANY or any(
            words < set(normalise(other).split()) and (len(words) == 1 or "," in other)
            for other in texts[first:last]
        )
    return found


def _rows(pairs: Pairs, pieces: npt.NDArray[np.bool_]) -> Iterator[tuple[str, str, str]]:
    for start in range(0, len(pairs), _BLOCK):
        stop = min(start + _BLOCK, len(pairs))
        _, left, right = pairs.rows(start, stop)
        whole = ~(pieces[left] | pieces[right])
        batch = pairs.batch(start, stop).filter(pa.array(whole))
        for concept, *names in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            one, other = (normalise(_TAGS.sub("", name)) for name in names)
            yield concept, one, other
