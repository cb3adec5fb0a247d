"""`nymlink calibrate`: fit confidences to annotated mentions."""

from __future__ import annotations

import math
from importlib.util import find_spec
from pathlib import Path

import click

from nymlink.cli.annotated_corpus import AnnotatedCorpus, annotated_corpus
from nymlink.cli.common import encoder_option, finish, reported_problems, require_files
from nymlink.core.errors import InputError, MissingExtraError
from nymlink.core.store.output_checks import require_changeable
from nymlink.evaluation.calibration.calibration_metrics import BINS, COVERAGES, Reliability
from nymlink.evaluation.calibration.fit_calibration import fit_calibration, measure_calibration
from nymlink.index.index import Index
from nymlink.index.store import store_calibration
from nymlink.plot.figure import picture_format, save_figure
from nymlink.plot.reliability import draw_reliability


@click.command()
@click.argument("index", type=click.Path(path_type=Path), metavar="INDEX")
@annotated_corpus
@encoder_option
@click.option(
    "--target-precision",
    default=0.9,
    show_default=True,
    type=click.FloatRange(0, 1),
    help="Share of links that should be right: print the confidence this takes, and how many mentions reach it.",
)
@click.option(
    "--test",
    type=click.Path(path_type=Path),
    help="Corpus to measure on, too, without fitting to it.",
)
@click.option("--plot", type=click.Path(path_type=Path), help="Picture to write: .pdf, .png or .svg.")
def calibrate(
    index: Path,
    corpus: AnnotatedCorpus,
    encoder: str | None,
    target_precision: float,
    test: Path | None,
    plot: Path | None,
) -> None:
    """Fit the confidences of an index to annotated mentions.

    CORPUS holds development mentions with gold ids: neither the mentions you will report figures on, nor any that
    were added to the index as names. The calibration is stored in the index; from then on `nymlink link` shows
    confidences. Figures are of mentions not used to fit (ten-fold cross-validation over documents). Mentions with
    a misspelt word that has to be guessed are left out. It is also fitted to
    mentions without an answer: some of the same mentions, as if the vocabulary lacked their concepts, and words
    and codes that are no names of the vocabulary.

    \b
    nymlink calibrate medic-index CDR_DevelopmentSet.PubTator.txt --type Disease
    nymlink link --index medic-index --target-precision 0.9 "heart murmer"
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
    opened = Index.load(index, encoder=encoder)
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
        click.echo(f"{error}", err=True)
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
