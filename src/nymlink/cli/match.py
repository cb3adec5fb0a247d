"""The command that matches two vocabularies."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from nymlink.cli.common import finish, reported_problems, require_files
from nymlink.cli.option_groups import GroupedCommand
from nymlink.core.terminal import tell
from nymlink.encode.model.folder import MINI
from nymlink.linking.matching.match import MIN_CONFIDENCE, open_matched
from nymlink.linking.matching.match import match as match_vocabularies


@click.command(cls=GroupedCommand)
@click.argument("first", type=click.Path(path_type=Path), metavar="A")
@click.argument("second", type=click.Path(path_type=Path), metavar="B")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="SSSOM table to write.")
@click.option("--many", is_flag=True, help="Keep all mappings with enough confidence, not one for each concept.")
@click.option(
    "--min-confidence",
    default=MIN_CONFIDENCE,
    show_default=True,
    type=click.FloatRange(0, 1),
    help="Smallest confidence of a mapping.",
)
@click.option(
    "--encoder",
    metavar="MODEL",
    default=MINI,
    show_default=True,
    help="Encoder that compares the names of concepts that share no name; none: only spelling, which is faster.",
)
def match(first: Path, second: Path, output: Path, many: bool, min_confidence: float, encoder: str) -> None:
    """Find mappings between the concepts of the vocabularies A and B.

    A and B are folders written by `nymlink vocab build` or `nymlink index build`, or sources that these read. The
    mappings are exact, broad or narrow, each with a confidence. They come from the names and the hierarchies, not
    from cross-references. A concept has at most one mapping, unless --many is given. If A and B are the same, the
    mappings are pairs of concepts that may be duplicates.

    \b
    nymlink match mondo doid -o mappings.sssom.tsv
    nymlink match mondo.obo doid --encoder none --min-confidence 0.8 -o sure.sssom.tsv
    nymlink match mondo mondo --encoder none -o duplicates.sssom.tsv
    """
    require_files([output], [first, second])
    problems = reported_problems()
    opened = open_matched(first, problems=problems)
    other = opened if first.resolve() == second.resolve() else open_matched(second, problems=problems)
    links = match_vocabularies(
        opened,
        other,
        many=many,
        min_confidence=min_confidence,
        encoder=None if encoder == "none" else encoder,
        progress=True,
    )
    links.write(output, format="sssom")
    counts = Counter(candidate.relation for link in links for candidate in link.candidates)
    found = ", ".join(f"{counts[relation]:,} {relation}" for relation in ("exact", "broader", "narrower"))
    tell(f"{found} → {output}")
    finish(problems)
