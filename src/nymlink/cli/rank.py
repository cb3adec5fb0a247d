"""`nymlink train rank`: teach an index to put its candidates in order."""

from __future__ import annotations

from math import isnan
from pathlib import Path
from typing import Final

import click

from nymlink.cli.annotated_corpus import AnnotatedCorpus, corpora_options
from nymlink.cli.common import finish, mapping, reported_problems
from nymlink.cli.option_groups import GroupedCommand
from nymlink.core.errors import InputError
from nymlink.core.language_codes import language_of
from nymlink.core.store.output_checks import require_changeable
from nymlink.corpus.offsets import OffsetUnit
from nymlink.index.index import Index
from nymlink.index.index_folder import store_ranker
from nymlink.rank.trees import DEEPEST
from nymlink.train.ranking.boosting import BoostingSettings
from nymlink.train.ranking.fit_ranker import fit_ranker
from nymlink.train.ranking.labelled import LabelledQuestions, annotated_questions
from nymlink.train.ranking.left_out import left_out_questions, names_elsewhere
from nymlink.vocabulary.read import open_vocabulary

_DEFAULT_LEFT_OUT: Final = 5000
_MOST_ELSEWHERE: Final = 10_000
"""Most names of other vocabularies to learn from: more take longer and teach little more."""
_DEFAULTS: Final = BoostingSettings()


@click.command(cls=GroupedCommand)
@click.argument("index", type=click.Path(path_type=Path), metavar="INDEX")
@click.option(
    "--corpus",
    "corpora",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Annotated mentions to learn from, in any format of corpora. Repeatable.",
)
@corpora_options
@click.option(
    "--merged",
    type=click.Path(path_type=Path),
    help="Merged vocabulary: learn from names of the same concepts in its other sources.",
)
@click.option(
    "--left-out",
    type=click.IntRange(0),
    help=f"Number of names of the index to leave out or change.  [default: {_DEFAULT_LEFT_OUT:,}, "
    "or 0 with --corpus or --merged]",
)
@click.option("--trees", default=_DEFAULTS.trees, show_default=True, type=click.IntRange(1))
@click.option("--depth", default=_DEFAULTS.depth, show_default=True, type=click.IntRange(1, DEEPEST))
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0))
def rank(
    index: Path,
    corpora: tuple[Path, ...],
    types: tuple[str, ...],
    input_format: str | None,
    mapped_columns: tuple[str, ...],
    offsets: OffsetUnit,
    language: str | None,
    merged: Path | None,
    left_out: int | None,
    trees: int,
    depth: int,
    seed: int,
) -> None:
    """Train the order of an index's candidates.

    The order by similarity is a good guess. The ranker learns the weights of the evidence (meaning, spelling,
    missing and extra words, other names of the concept) from questions with known answers: annotated mentions,
    names of the same concepts in other vocabularies, or else names of the index, left out or changed. The ranker
    is stored in the index. The calibration of the index is removed, because it was fitted to another order: run
    `nymlink calibrate` again.

    \b
    nymlink train rank medic-index --corpus CDR_TrainingSet.PubTator.txt --type Disease
    nymlink train rank mondo-index --merged meta
    nymlink train rank mondo-index

    It prints the share of right first candidates before and after, among questions left out of the learning whose
    right concept is among the candidates.
    """
    columns, language = mapping(mapped_columns), language_of(language)
    require_changeable(index)
    problems = reported_problems()
    # The present ranker may be damaged, or of another version.
    opened = Index.load(index).with_ranker(None)
    wanted = left_out if left_out is not None else 0 if corpora or merged else _DEFAULT_LEFT_OUT
    questions: dict[str, LabelledQuestions] = {}
    for path in corpora:
        corpus = AnnotatedCorpus(path, input_format, columns, set(types) or None, language, offsets).read(problems)
        asked = annotated_questions(opened, corpus, types=types or None, language=language, seed=seed)
        kind = f"mentions of {corpus.name}"
        questions[kind] = LabelledQuestions.joined([questions[kind], asked]) if kind in questions else asked
    if merged is not None:
        questions["names elsewhere"] = names_elsewhere(opened, open_vocabulary(merged), _MOST_ELSEWHERE, seed=seed)
    if wanted:
        questions["names left out or changed"] = left_out_questions(opened, wanted, seed=seed)
    if not questions:
        raise InputError("there is nothing to learn from: give --corpus, --merged or --left-out")
    fitted = fit_ranker(questions, BoostingSettings(trees=trees, depth=depth, seed=seed), progress=True)
    store_ranker(index, fitted.ranker.to_dict(), fusion=opened.fusion)
    for kind, count in fitted.counts.items():
        before, after = 100 * fitted.before[kind], 100 * fitted.after[kind]
        gain = "too few to measure" if isnan(before) else f"first right {before:.1f} → {after:.1f} %"
        click.echo(f"{kind}: {count:,}, {gain}")
    finish(problems)
