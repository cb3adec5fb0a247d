"""Tasks that linkers are measured on: dictionaries, and the mentions to link to them, from $NYMLINK_DATA.

A task has one split. No other split is opened: of an archive only the files of the split are unpacked.
"""

from __future__ import annotations

import gzip
import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.common.inputs import unpack
from nymlink.corpus.documents import Corpus, Mention
from nymlink.corpus.read import read_corpus
from nymlink.corpus.readers.common import CorpusOptions
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.enrich import enrich
from nymlink.vocabulary.hierarchy import flatten_lists
from nymlink.vocabulary.merge.identifiers import canonical
from nymlink.vocabulary.read import open_vocabulary
from nymlink.vocabulary.tables import REDIRECT_SCHEMA, TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary

_NCBI: Final = "corpora/ncbi_disease/biosyn_form"
_BC5CDR: Final = "corpora/bc5cdr"
_FOLDS: Final = 10
_CUI: Final = r"\bC\d{7}$"


def reached_by_cui(path: Path) -> Vocabulary:
    """Make each UMLS CUI an old id of the concepts that refer to it; concepts without a CUI are not searched."""
    vocabulary = open_vocabulary(path)
    concepts = vocabulary.columns.concepts
    owners, xrefs = flatten_lists(concepts["xrefs"])
    matching = pc.match_substring_regex(xrefs, _CUI)
    found = [
        (local, owner)
        for owner, (namespace, local) in zip(
            owners[matching.to_numpy(zero_copy_only=False)].tolist(),
            map(canonical, xrefs.filter(matching).to_pylist()),
            strict=True,
        )
        if namespace == "UMLS"
    ]
    ids = concepts["id"].take(pa.array([owner for _, owner in found], pa.int64()))
    added = pa.table({"old": [cui for cui, _ in found], "new": ids}, schema=REDIRECT_SCHEMA)
    redirects = pa.concat_tables([vocabulary.columns.redirects, added]).sort_by([("old", "ascending")])
    unreached = np.ones(len(concepts), bool)
    unreached[[owner for _, owner in found]] = False
    # Nothing could link to them: they count as gone.
    place = concepts.schema.get_field_index("obsolete")
    gone = pa.array(unreached | concepts["obsolete"].to_numpy())
    searched = concepts.set_column(place, concepts.schema.field(place), gone)
    columns = replace(vocabulary.columns, concepts=searched, redirects=redirects.combine_chunks())
    return Vocabulary(columns, vocabulary.sources, vocabulary.settings)


def label_ontology(path: Path) -> Vocabulary:
    """Read AskAPatient's own dictionary: a JSON object, SNOMED CT id → its labels, each a kind and a text.

    The corpus writes the ids without their namespace; these are old ids here.
    """
    builder = TableBuilder()
    for local, labels in json.loads(gzip.decompress(path.read_bytes())).items():
        concept_id = f"SNOMEDCT:{local}"
        builder.concept(concept_id)
        builder.redirect(local, concept_id)
        for place, (_, text) in enumerate(labels):
            builder.name(concept_id, text, lang="en", kind="exact" if place else "preferred")
    return Vocabulary.of((Source("AskAPatient", "label ontology", file=path.name), builder.build()))


def borrowing(path: Path, *, metathesaurus: str, by_name: bool) -> Vocabulary:
    """Read it with names borrowed from concepts of a merged vocabulary that share an id, or a name."""
    return enrich(label_ontology(path), open_vocabulary(Path(metathesaurus)), by_name=by_name).vocabulary


@dataclass(frozen=True)
class Task:
    """Dictionary and the corpora to link to it.

    Attributes:
        name: data and dictionary, for tables.
        dictionary: its path, below the data folder if not absolute.
        corpus: the path of a file, or of an archive.
        parts: files or folders of an archive; each is a corpus, all of one kind (folds).
        columns: columns of a mention table, see :class:`~nymlink.corpus.readers.common.CorpusOptions`.
        read: reader of the dictionary.
        languages: languages of the names to search; ``None`` for all.
        known_only: whether mentions with ids unknown to the dictionary are left out, not scored as wrong.
        bar: Acc@1 and @5 by name to reach, in percent; ``None`` where there is no bar.
    """

    name: str
    dictionary: str
    corpus: str
    parts: tuple[str, ...] = ()
    columns: dict[str, str] = field(default_factory=dict)
    read: Callable[[Path], Vocabulary] = open_vocabulary
    languages: tuple[str, ...] | None = None
    known_only: bool = False
    bar: tuple[float, float] | None = None


def load(task: Task, data: Path) -> tuple[Vocabulary, list[Corpus]]:
    """Read the dictionary and the corpora of a task."""
    vocabulary = task.read(data / task.dictionary)
    corpora = list(_corpora(task, data / task.corpus))
    if task.known_only:
        resolve = cache(vocabulary.resolve)
        corpora = [_chosen(corpus, lambda mention: any(map(resolve, mention.concept_ids))) for corpus in corpora]
    return vocabulary, corpora


def _corpora(task: Task, path: Path) -> Iterator[Corpus]:
    options = CorpusOptions(columns=task.columns)
    if not task.parts:
        yield read_corpus(path, options=options)
        return
    with tempfile.TemporaryDirectory() as folder:
        unpack(str(path), folder, parts=list(task.parts))
        for part in task.parts:
            yield read_corpus(Path(folder) / part, options=options)


def first(corpus: Corpus, count: int) -> Corpus:
    """Truncate a corpus to its first mentions, for trying."""
    numbers = iter(range(count))
    return _chosen(corpus, lambda _: next(numbers, None) is not None)


def _chosen(corpus: Corpus, wanted: Callable[[Mention], bool]) -> Corpus:
    documents = (
        replace(document, mentions=tuple(filter(wanted, document.mentions))) for document in corpus.documents
    )
    return replace(corpus, documents=tuple(document for document in documents if document.mentions))


def ncbi(split: str, kind: str, dictionary: str, bar: tuple[float, float] | None = None) -> Task:
    """NCBI disease, prepared queries: ``split`` is ``dev`` or ``test``."""
    archive = f"{_NCBI}/ncbi-disease_processed_concepts.tar.gz"
    return Task(f"NCBI {split}, {kind}", dictionary, archive, (f"ncbi-disease/processed_{split}",), bar=bar)


def bc5cdr(kind: str, dictionary: str, bar: tuple[float, float] | None = None) -> Task:
    """BC5CDR disease, prepared queries of the development split."""
    archive = f"{_BC5CDR}/bc5cdr-disease_processed_train_dev.tar.gz"
    return Task(f"BC5CDR disease dev, {kind}", dictionary, archive, ("bc5cdr-disease/processed_dev",), bar=bar)


def askapatient(
    split: str, bar: tuple[float, float] | None = None, *, metathesaurus: str | None = None, by_name: bool = False
) -> Task:
    """AskAPatient, all folds: ``split`` is ``validation`` or ``test``; enriched where names can be borrowed."""
    enriched = metathesaurus is not None
    return Task(
        f"AskAPatient {split}, {_FOLDS} folds" + ", enriched" * enriched + ", by name too" * by_name,
        "corpora/askapatient/askapatient_label_ontology.json.gz",
        "corpora/askapatient/askapatient_10folds.tar.xz",
        tuple(f"askapatient/AskAPatient.fold-{fold}.{split}.txt" for fold in range(_FOLDS)),
        read=partial(borrowing, metathesaurus=metathesaurus, by_name=by_name) if enriched else label_ontology,
        bar=bar,
    )


def medmentions(split: str, metathesaurus: str) -> Task:
    """MedMentions, the mentions whose CUI a metathesaurus reaches: ``split`` is ``dev`` or ``test``."""
    return Task(
        f"MedMentions {split}, reached",
        metathesaurus,
        f"corpora/medmentions/medmentions_full_{split}.mention_cui.tsv.gz",
        read=reached_by_cui,
        languages=("en",),
        known_only=True,
    )


def mondo(split: str) -> Task:
    """MedMentions mentions mapped to MONDO: ``split`` is ``dev`` or ``test``."""
    return Task(
        f"MedMentions→MONDO {split}",
        "vocabularies/mondo.tsv.gz",
        f"corpora/medmentions_mondo/mondo_{split}.csv",
        columns={"mention": "mention", "concept_id": "mondo_id"},
    )


def gsc() -> Task:
    """GSC+, the half for development: phenotypes in abstracts. Mentions whose ids are gone are left out."""
    return Task(
        "GSC+ dev, HPO",
        "vocabularies/hpo.tsv.gz",
        "corpora/hpo_gsc/gscplus_dev_half.tar.gz",
        ("GSC+",),
        languages=("en",),
        known_only=True,
    )


MEDIC: Final = f"{_NCBI}/ncbi-disease_train_dictionary.txt.gz"
_BC5CDR_BARE: Final = f"{_BC5CDR}/bc5cdr-disease_train_dictionary.txt.gz"
_BC5CDR_AUGMENTED: Final = f"{_BC5CDR}/bc5cdr-disease_dev_dictionary.txt.gz"

DEVELOPMENT: Final = (
    ncbi("dev", "bare", MEDIC),
    ncbi("dev", "augmented", f"{_NCBI}/ncbi-disease_dev_dictionary.txt.gz"),
    bc5cdr("bare", _BC5CDR_BARE, (84.5, 89.5)),
    bc5cdr("augmented", _BC5CDR_AUGMENTED, (94.0, 96.5)),
    gsc(),
    mondo("dev"),
)
TEST: Final = (
    ncbi("test", "bare", MEDIC, (82.5, 89.0)),
    ncbi("test", "augmented", f"{_NCBI}/ncbi-disease_test_dictionary.txt.gz", (92.6, 96.2)),
    mondo("test"),
)


def bars(*, test: bool, enriched: str | None, metathesaurus: str | None) -> dict[str, Task]:
    """List the tasks that linkers are judged by, by name.

    Args:
        test: the test splits instead of the development splits.
        enriched: MEDIC with borrowed names; without it there are no tasks with an enriched dictionary.
        metathesaurus: the merged vocabulary; without it there is no task with MedMentions' own concepts, and
            AskAPatient borrows no names.
    """
    found = list(TEST if test else DEVELOPMENT)
    if enriched is not None and test:
        found.append(ncbi("test", "enriched", enriched, (84.0, 90.5)))
    elif enriched is not None:
        found += [ncbi("dev", "enriched", enriched), bc5cdr("enriched", enriched, (87.0, 91.5))]
    folds: tuple[Any, ...] = ("test", (70.5, 88.9)) if test else ("validation",)
    found.append(askapatient(*folds))
    if metathesaurus is not None:
        found += [askapatient(*folds, metathesaurus=metathesaurus, by_name=by_name) for by_name in (False, True)]
        found.append(medmentions("test" if test else "dev", metathesaurus))
    return {task.name: task for task in sorted(found, key=lambda task: task.name)}
