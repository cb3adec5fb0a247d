"""Commands on the decisions of a review."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from nymlink.cli.common import require_files
from nymlink.cli.lazy import Commands
from nymlink.cli.option_groups import GroupedCommand
from nymlink.cli.project import (
    echo_reviewers,
    finish_with,
    index_of,
    index_option,
    link_terms,
    project_argument,
    reviewer_option,
)
from nymlink.core.files import open_buffered
from nymlink.core.terminal import escape_controls, tell
from nymlink.linking.writers.link_files import format_of, standard_output
from nymlink.project import own_concepts
from nymlink.project.acceptance import accept as accept_terms
from nymlink.project.export import export_formats, export_project
from nymlink.project.forms import list_forms, split_forms
from nymlink.project.import_decisions import import_decisions
from nymlink.project.learn import forget as forget_learned
from nymlink.project.learn import learn as learn_terms
from nymlink.project.lessons import write_names
from nymlink.project.priorities import TARGET, prioritise
from nymlink.project.project import Project
from nymlink.project.report import describe, write_report
from nymlink.project.reviewers import disagreements, set_review
from nymlink.project.rows import ReadOnlyError
from nymlink.project.summary import summary
from nymlink.tables.delimited import tab_line


@click.command(cls=GroupedCommand)
@project_argument
@click.option("--above", required=True, type=click.FloatRange(0, 1), help="Least confidence.")
@reviewer_option("Who decides.", required=True)
@click.option("--dry-run", is_flag=True, help="Print the effect, change nothing.")
def accept(file: Path, above: float, reviewer: str, dry_run: bool) -> None:
    """Accept the first candidates of undecided terms of FILE with a high confidence.

    One undo on the page takes all of them back.

    \b
    nymlink project accept review.nymlink --above 0.95 --reviewer Ann --dry-run
    """
    with Project(file, writes=not dry_run) as project:
        found = accept_terms(project, reviewer=reviewer, above=above, dry_run=dry_run)
    done = "would be accepted" if dry_run else "accepted"
    click.echo(
        f"{found['terms']:,} terms in {found['rows']:,} rows {done}; about {found['expected_wrong']:.0f} of them "
        "will be wrong, as far as confidences tell"
    )


@click.command("next", cls=GroupedCommand)
@project_argument
@click.option("--limit", default=50, show_default=True, type=click.IntRange(min=1), help="Most terms.")
@click.option(
    "--target",
    default=TARGET,
    show_default=True,
    type=click.FloatRange(0, 1),
    help="Share of occurrences that should be right.",
)
@click.option("--json", "as_json", is_flag=True, help="Write JSON instead of a table.")
def next_(file: Path, limit: int, target: float, as_json: bool) -> None:
    """List the terms of FILE to decide first, and say how many are left to decide, and when to stop.

    Uncertain and frequent terms come first, and of terms that are alike only a few. The gain is the expected
    number of wrong occurrences that a decision mends. Intervals have a probability of 90 %; confidences are
    corrected by the decisions made so far.

    \b
    nymlink project link review.nymlink
    nymlink project next review.nymlink --limit 20
    """
    with Project(file, writes=False) as project:
        found = prioritise(project, limit=limit, target=target)
    if as_json:
        click.echo(json.dumps(found.to_dict(), ensure_ascii=False, indent=1))
        return
    click.echo("id\ttext\tfrequency\tconfidence\tgain")
    for term in found.terms:
        click.echo(tab_line("" if value is None else str(value) for value in term.values()))
    share, low, high = found.right
    needed, fewest, most = found.left
    tell(
        f"about {100 * share:.1f} % of occurrences are right (90 % interval {100 * low:.1f} to {100 * high:.1f}), "
        f"{found.decided:,} terms decided; {100 * target:g} % need about {needed:,} more decisions "
        f"({fewest:,} to {most:,}): {'stop here' if found.stop else 'go on'}"
    )


@click.command(cls=GroupedCommand)
@project_argument
@click.option(
    "--format",
    type=click.Choice(export_formats()),
    help="Format; if not given, by the ending of --output, else tsv.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="File; standard output if not given.")
@click.option("--guesses", is_flag=True, help="Also first candidates of undecided terms, marked as guesses.")
@click.option("--limit", type=click.IntRange(min=1), help="Only the first rows of the tables, to look at.")
def export(file: Path, format: str | None, output: Path | None, guesses: bool, limit: int | None) -> None:
    """Write the tables of the project FILE with its decisions, or the mappings of its decided terms.

    In a table, the row of an undecided term has no concept. Rows of a review of Usagi or of SSSOM stay unchanged,
    cell by cell, unless they were decided since.

    \b
    nymlink project export review.nymlink -o visits.xlsx
    nymlink project export review.nymlink --guesses -o all.xlsx
    nymlink project export review.nymlink --format sssom
    """
    require_files([output], [file])
    name = format or ("tsv" if output is None else format_of(output))
    with Project(file, writes=False) as project:
        try:
            vocabulary = index_of(project).vocabulary
        except ReadOnlyError as error:
            vocabulary = None
            tell(f"{error}; decisions are written unchanged", level="warning")
        target = standard_output(name) if output is None else output
        export_project(project, target, format=name, vocabulary=vocabulary, guesses=guesses, limit=limit)


@click.command(cls=GroupedCommand)
@project_argument
@click.option("--blind/--not-blind", default=None, help="Whether reviewers see only their own decisions.")
@click.option("--adjudicator", metavar="NAME", help='Who decides disagreements; "" for nobody.')
@click.option("--json", "as_json", is_flag=True, help="Write JSON instead of lines.")
def reviewers(file: Path, blind: bool | None, adjudicator: str | None, as_json: bool) -> None:
    """Show the reviewers of FILE, their agreement (Cohen's kappa) and disagreements; or choose how they review.

    With an adjudicator, a term on which others disagree is open until the adjudicator decides. Without one, the
    last decision counts.

    \b
    nymlink project reviewers review.nymlink --blind --adjudicator Cara
    nymlink project reviewers review.nymlink
    """
    changes = blind is not None or adjudicator is not None
    with Project(file, writes=changes) as project:
        if changes:
            set_review(project, blind=blind, adjudicator=adjudicator)
        found, waiting = summary(project), disagreements(project)
    if as_json:
        names = ("blind", "adjudicator", "reviewers", "agreement")
        said = {**{name: found[name] for name in names}, "disagreements": waiting}
        click.echo(json.dumps(said, ensure_ascii=False, indent=1))
        return
    who = (
        f"disagreements are decided by {found['adjudicator']}"
        if found["adjudicator"]
        else "the last decision counts"
    )
    click.echo(f"reviewing   {'blind' if found['blind'] else 'not blind'}; {who}")
    echo_reviewers(found)
    for term in waiting:
        each = "; ".join(f"{name}: {describe(made)}" for name, made in term["decisions"].items())
        click.echo(f"disagree    {term['id']} {escape_controls(term['text'])}: {escape_controls(each)}")


@click.command(cls=GroupedCommand)
@project_argument
@click.argument("terms", type=int, nargs=-1, metavar="[TERM]...")
def split(file: Path, terms: tuple[int, ...]) -> None:
    """Decide forms of a term by themselves ("FIT" and "fits"), by number; without numbers, list all forms.

    The number of a listed term splits all its forms.

    \b
    nymlink project split review.nymlink
    """
    with Project(file, writes=bool(terms)) as project:
        for term in terms:
            click.echo(f"decided by themselves: {', '.join(map(str, split_forms(project, term)))}")
        if not terms:
            click.echo("id\ttext\tlanguage\tfrequency\tdecided with")
            for group in list_forms(project):
                for form in group["forms"]:
                    click.echo(tab_line(map(str, (*form.values(), group["text"]))))


@click.command(cls=GroupedCommand)
@project_argument
@click.option("-o", "--output", type=click.Path(path_type=Path), help="File; standard output if not given.")
def report(file: Path, output: Path | None) -> None:
    """Write a page to print about the review in FILE (HTML): coverage, reviewers, agreement, confidences, speed.

    \b
    nymlink project report review.nymlink -o report.html
    """
    require_files([output], [file])
    with Project(file, writes=False) as project:
        write_report(project, sys.stdout if output is None else output)


@click.command("import", cls=GroupedCommand)
@project_argument
@click.argument("decisions", type=click.Path(path_type=Path), metavar="DECISIONS")
@reviewer_option("Reviewer, if the file names none.")
@index_option("New place of the project's index, after a move.")
def import_(file: Path, decisions: Path, reviewer: str, index: Path | None) -> None:
    """Apply the decisions in DECISIONS to equal terms of the project FILE.

    DECISIONS is another project, a table or JSON lines written by `nymlink project export`, a review of Usagi,
    SSSOM, or a ConceptMap of FHIR. Later decisions of a reviewer stay; importing a file twice changes nothing
    more.

    \b
    nymlink project import review.nymlink last-year.nymlink
    """
    with open_buffered(decisions) as stream:
        raw = stream.read()
    with Project(file) as project:
        vocabulary = index_of(project, index).vocabulary
        found = import_decisions(project, raw, decisions.name, vocabulary=vocabulary, reviewer=reviewer)
    tell(
        f"{found['stated']:,} decisions, {found['new']:,} of them new; {found['unknown_terms']:,} of terms that "
        "the project does not have"
    )
    if found["unknown_concepts"]:
        first = ", ".join(found["unknown_concepts"][:5])
        tell(f"{len(found['unknown_concepts']):,} concepts are not in the index (kept): {first}", level="notice")
    finish_with(found["problems"])


@click.command(cls=GroupedCommand)
@project_argument
@click.option("--forget", is_flag=True, help="Remove everything learned; decisions stay.")
@click.option(
    "--save-names", "names", type=click.Path(path_type=Path), help="Also write this table of decided terms."
)
@index_option("New place of the project's index, after a move.")
def learn(file: Path, forget: bool, names: Path | None, index: Path | None) -> None:
    """Learn from the decisions of the project FILE, and link its open terms again.

    Decided terms become names of their concepts, so that similar terms are found; the order of candidates and the
    confidences change if that is better for decided terms left out of the learning. All is kept in FILE, also for
    later tables; the index does not change.

    The table of --save-names is a vocabulary: build it together with the other one, and any index has its names.

    \b
    nymlink project learn review.nymlink
    nymlink project learn review.nymlink --save-names reviewed.tsv
    nymlink vocab build mondo.obo reviewed.tsv -o reviewed
    nymlink index build reviewed -o reviewed-index
    """
    if forget and names is not None:
        raise click.UsageError(
            "--save-names writes decisions, and --forget drops what they taught: give one of them"
        )
    require_files([names], [file])
    with Project(file) as project:
        opened = index_of(project, index)
        if names is not None:
            tell(f"{names}: {write_names(project, names):,} names")
        if forget:
            click.echo("what was learned is forgotten" if forget_learned(project) else "nothing was learned")
        else:
            _echo(learn_terms(project, opened).report)
        link_terms(project, opened)


def _echo(report: Mapping[str, Any]) -> None:
    click.echo(
        f"{report['terms']:,} decided terms: {report['names']:,} names of concepts, {report['nil']:,} of none "
        f"({report['seconds']:.1f} s)"
    )
    for part, what, measure in (
        ("ranker", "order of candidates", "share of first candidates right"),
        ("confidence", "confidences", "loss"),
    ):
        proof = report[part]
        if proof is None:
            said = f"too little to learn from: {report['looked_at']:,} terms that somebody looked at"
        elif proof["taken"]:
            said = f"learned; {measure} {proof['before']:.3f} → {proof['after']:.3f} on terms left out"
        else:
            said = f"as before, as nothing better was found; {measure} {proof['before']:.3f} on terms left out"
        click.echo(f"{what}: {said}")


@click.group(cls=Commands)
def concept() -> None:
    """Concepts of a project's own, for terms whose meaning the vocabulary lacks."""


@concept.command("add")
@project_argument
@click.option("--name", required=True, help="Preferred name.")
@click.option("--parent", "parents", multiple=True, metavar="ID", help="Broader concept. Repeatable.")
@click.option("--synonym", "synonyms", multiple=True, metavar="NAME", help="Other name. Repeatable.")
@click.option("--definition", default="", help="What it is, in a sentence.")
@reviewer_option("Who adds it.")
@index_option("Where the index of the project is now, if it was moved.")
def add_concept(
    file: Path,
    name: str,
    parents: tuple[str, ...],
    synonyms: tuple[str, ...],
    definition: str,
    reviewer: str,
    index: Path | None,
) -> None:
    """Add a concept to the project FILE, and print its id.

    Terms that are linked later have it as a candidate. It is kept when the vocabulary has another release.

    \b
    nymlink project concept add review.nymlink --name "Silent heart attack" --parent MONDO:0005068
    """
    with Project(file) as project:
        added = own_concepts.add_concept(
            project,
            index_of(project, index).vocabulary,
            name,
            parents=parents,
            synonyms=synonyms,
            definition=definition,
            reviewer=reviewer,
        )
    click.echo(added.id)


@click.command(cls=GroupedCommand)
@project_argument
@click.option(
    "--template",
    type=click.Choice(own_concepts.TEMPLATES),
    help="robot: a template of ROBOT; issue: texts for the tracker of the ontology. Without it, a table.",
)
def concepts(file: Path, template: str | None) -> None:
    """Write the concepts that were added to the project FILE.

    \b
    nymlink project concepts review.nymlink --template robot
    nymlink project concepts review.nymlink --template issue
    """
    with Project(file, writes=False) as project:
        if template is None:
            click.echo("id\tname\tparents\tsynonyms\tdefinition")
            for each in own_concepts.own_concepts(project):
                lists = ("|".join(each.parents), "|".join(each.synonyms))
                click.echo(tab_line([each.id, each.name, *lists, each.definition]))
            return
        try:
            vocabulary = index_of(project).vocabulary
        except ReadOnlyError:
            # Parents are then written without their names.
            vocabulary = None
        click.echo(own_concepts.request_text(project, vocabulary, template), nl=False)
