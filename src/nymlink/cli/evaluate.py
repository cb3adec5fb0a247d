"""Commands that measure: how right links are, how sure, and whether names and ids agree."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import click
from click.core import ParameterSource

from nymlink.annotation.annotator import Annotator
from nymlink.annotation.annotator_settings import AnnotatorSettings
from nymlink.cli.annotated_corpus import AnnotatedCorpus, annotated_corpus, corpus_options
from nymlink.cli.common import (
    finish,
    reported_problems,
    require_files,
)
from nymlink.cli.option_groups import GroupedCommand
from nymlink.core.errors import InputError, MissingExtraError
from nymlink.core.store.atomic import atomic_file
from nymlink.core.store.output_checks import require_changeable
from nymlink.core.terminal import tell
from nymlink.evaluation.annotation import annotation_report, evaluate_annotation
from nymlink.evaluation.breakdown import Mistake, shuffled
from nymlink.evaluation.calibration_metrics import BINS, COVERAGES, Reliability
from nymlink.evaluation.evaluation import augment, report
from nymlink.evaluation.evaluation import evaluate as run
from nymlink.evaluation.fit_calibration import fit_calibration, measure_calibration
from nymlink.evaluation.significance import compare as compare_runs
from nymlink.evaluation.significance import read_run
from nymlink.index.index import Index
from nymlink.index.index_folder import store_calibration
from nymlink.linking.linker import Linker
from nymlink.plot.figure import picture_format, save_figure
from nymlink.plot.reliability import draw_reliability


@click.command(cls=GroupedCommand)
@click.option("--index", required=True, type=click.Path(path_type=Path), help="The index to link to.")
@click.option(
    "--corpus", required=True, type=click.Path(path_type=Path), help="Annotated mentions: file or folder."
)
@corpus_options
@click.option(
    "--augment",
    "augmenting",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Add the mentions of this (training or development) corpus to the dictionary. Repeatable.",
)
@click.option(
    "--training",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Training corpus: break the figures down by how often a gold concept occurs there. Repeatable.",
)
@click.option(
    "--as-published",
    is_flag=True,
    help="Prepare mentions as for the published figures, without our improvements, and count names that differ in "
    "the order of their words as different names.",
)
@click.option("--drop-unknown", is_flag=True, help="Leave out mentions whose gold id is not in the dictionary.")
@click.option(
    "--annotate",
    "annotating",
    is_flag=True,
    help="Measure annotation instead: find mentions in the texts of the corpus, and compare them with the gold.",
)
@click.option(
    "--json",
    "output",
    type=click.Path(path_type=Path),
    help="JSON file to write: all figures, and ranks.",
)
@click.option(
    "--errors",
    type=click.Path(path_type=Path),
    help="TSV file to write: every mistake, in random order, so that the first lines are a sample.",
)
@click.option(
    "--compare",
    type=click.Path(path_type=Path),
    help="Compare with another run over the same mentions (its --json file): McNemar's exact test.",
)
def evaluate(
    index: Path,
    corpus: AnnotatedCorpus,
    augmenting: tuple[Path, ...],
    training: tuple[Path, ...],
    as_published: bool,
    drop_unknown: bool,
    annotating: bool,
    output: Path | None,
    errors: Path | None,
    compare: Path | None,
) -> None:
    """Measure linking on an annotated corpus.

    Figures are shares of the mentions with a gold id: by name (a name is right if one of its concepts is),
    strictly (if all of its concepts are), and by distinct concept, as a user sees candidates. Published figures
    use the dictionary augmented with the training mentions: index such a dictionary, or give --augment.

    \b
    nymlink evaluate --index medic-index --corpus CDR_DevelopmentSet.PubTator.txt --type Disease
    nymlink evaluate --index medic-index --corpus processed_test --json run.json
    nymlink evaluate --index medic-index --corpus processed_dev --errors errors.tsv

    \b
    Mentions found in the texts, instead of links of given mentions:
    nymlink evaluate --index hpo-index --corpus GSC --annotate --json run.json
    """
    if annotating:
        _evaluate_annotation(index, corpus, output)
        return
    require_files((output, errors), (index, corpus.path, *augmenting, *training, compare))
    other = None if compare is None else read_run(compare)
    problems = reported_problems()
    opened = Index.load(index)
    gold = corpus.read(problems)
    if augmenting:
        added = [corpus.read_other(path, problems) for path in augmenting]
        vocabulary = augment(opened.vocabulary, added, as_published=as_published)
        opened = opened.rebuild(vocabulary, progress=True)
    evaluation = run(
        Linker(opened, language=corpus.language),
        gold,
        types=corpus.types,
        training=[corpus.read_other(path, problems) for path in training],
        keep_unknown=not drop_unknown,
        as_published=as_published,
    )
    result = evaluation.to_dict()
    # Files first: the reader of the report may stop reading.
    if output is not None:
        _write_json(output, result)
    if errors is not None:
        _write_errors(errors, shuffled(evaluation.mistakes))
    click.echo(report(evaluation), nl=False)
    if other is not None:
        for name, test in compare_runs(result, other, path=compare).items():
            click.echo(
                f"{name} against {compare}: right only here {test.only_first:,}, "
                f"only there {test.only_second:,}, McNemar's exact p = {test.p_value:.3g}"
            )
    finish(problems)


_OF_LINKING: Final = "augmenting training as_published drop_unknown errors compare".split()
"""Parameters for linking given mentions."""


def _evaluate_annotation(index: Path, corpus: AnnotatedCorpus, output: Path | None) -> None:
    context = click.get_current_context()
    for parameter in context.command.params:
        given = context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
        if given and parameter.name in _OF_LINKING:
            raise click.UsageError(
                f"{parameter.opts[-1]} says how given mentions are linked: leave it out with --annotate"
            )
    require_files((output,), (index, corpus.path))
    problems = reported_problems()
    settings = AnnotatorSettings(language=corpus.language or "en")
    annotator = Annotator.load(index, settings, progress=True)
    evaluation = evaluate_annotation(annotator, corpus.read(problems), types=corpus.types)
    if output is not None:
        _write_json(output, evaluation.to_dict())
    click.echo(annotation_report(evaluation), nl=False)
    finish(problems)


def _write_json(path: Path, value: Any) -> None:
    with atomic_file(path) as partial:
        partial.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _write_errors(path: Path, mistakes: Sequence[Mistake]) -> None:
    with atomic_file(path) as partial, partial.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, Mistake.__slots__, delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(mistake.to_dict() for mistake in mistakes)


@click.command(cls=GroupedCommand)
@click.argument("index", type=click.Path(path_type=Path), metavar="INDEX")
@annotated_corpus
@click.option(
    "--target-precision",
    default=0.9,
    show_default=True,
    type=click.FloatRange(0, 1),
    help="Share of right links: print the confidence that reaches it, and the number of such mentions.",
)
@click.option(
    "--test",
    type=click.Path(path_type=Path),
    help="Further corpus for measuring only.",
)
@click.option("--plot", type=click.Path(path_type=Path), help="Picture to write: .pdf, .png or .svg.")
def calibrate(
    index: Path,
    corpus: AnnotatedCorpus,
    target_precision: float,
    test: Path | None,
    plot: Path | None,
) -> None:
    """Fit the confidences of an index to annotated mentions.

    CORPUS holds development mentions with gold ids: no mentions of a final evaluation, and none added to the index
    as names. The calibration is stored in the index; afterwards `nymlink link` shows confidences. Figures are
    cross-validated (ten folds of documents). Mentions with a guessed correction of a misspelt word are left out.
    The fit includes unanswerable mentions: some of the same mentions with their concepts left out, and words and
    codes outside of the vocabulary.

    \b
    nymlink calibrate medic-index CDR_DevelopmentSet.PubTator.txt --type Disease
    nymlink link --index medic-index --settings target_precision=0.9 "heart murmer"
    """
    require_files([plot], [index, corpus.path, test])
    require_changeable(index)
    if plot is not None:
        picture_format(plot)
        if find_spec("matplotlib") is None:
            raise MissingExtraError("plot", purpose="drawing")
    problems = reported_problems()
    gold = corpus.read(problems)
    tested = None if test is None else corpus.read_other(test, problems)
    opened = Index.load(index)
    fitted = fit_calibration(opened, gold, types=corpus.types, language=corpus.language)
    measured = {
        f"{gold.name} (cross-validated)": fitted.annotated,
        f"{gold.name}, and mentions without an answer (cross-validated)": fitted.reliability,
    }
    if tested is not None:
        measured[f"{tested.name} (not fitted to)"] = measure_calibration(
            opened, fitted.calibration, tested, types=corpus.types, language=corpus.language
        )
    # Files first: the reader of the figures may stop reading.
    store_calibration(index, fitted.calibration.to_dict(), fusion=opened.fusion)
    if plot is not None:
        save_figure(draw_reliability(measured), plot)
    try:
        threshold = fitted.calibration.threshold(target_precision)
    except InputError as error:
        threshold = None
        tell(str(error), level="notice")
    for title, reliability in measured.items():
        _echo(title, reliability, threshold, chosen_here=reliability is fitted.reliability)
    finish(problems)


def _echo(title: str, measured: Reliability, threshold: float | None, *, chosen_here: bool) -> None:
    click.echo(f"{title}: {len(measured.right):,} mentions")
    click.echo(f"  accuracy                    {100 * measured.accuracy:.1f} %")
    click.echo(f"  expected calibration error  {measured.expected_error:.3f} ({BINS} bins of equal size)")
    click.echo(f"  Brier score                 {measured.brier:.3f}")
    if not math.isnan(measured.answerable_auroc):
        click.echo(f"  AUROC of an answer          {measured.answerable_auroc:.3f}")
    for coverage in COVERAGES:
        click.echo(f"  precision at {100 * coverage:3.0f} % coverage  {100 * measured.precision(coverage):.1f} %")
    if threshold is not None:
        coverage, precision = measured.above(threshold)
        chosen = " (the threshold was chosen on these mentions)" if chosen_here else ""
        click.echo(
            f"  from confidence {threshold:.3f} on:  "
            f"precision {'none' if math.isnan(precision) else f'{100 * precision:.1f} %'}, "
            f"coverage {100 * coverage:.1f} %{chosen}"
        )
