"""The plug-ins that the documentation shows do what it says of them."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
import torch

from nymlink.core.problems import Problems
from nymlink.linking.writers.writer import LinksInfo
from nymlink.vocabulary.concepts import ReadOptions
from tests.docs.blocks import blocks
from tests.linking.toy import built_linker


@pytest.fixture(scope="module")
def shown() -> dict[str, Any]:
    names: dict[str, Any] = {}
    for block in (*blocks("CONTRIBUTING.md"), *blocks("docs/reference/plugins.md")):
        if block.language == "python":
            exec(block.text, names)
    return names


def test_the_reader_reads(shown: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "codes").write_text("C1;heart attack\nC2;gout\n", encoding="utf-8")
    tables = shown["READER"].read(tmp_path / "codes", options=ReadOptions(), problems=Problems())
    assert tables.names.column("text").to_pylist() == ["heart attack", "gout"]


def test_the_writer_writes(shown: dict[str, Any]) -> None:
    out = io.StringIO()
    writer = shown["WRITER"].open(out, LinksInfo())
    for link in built_linker().link(["heart attack", ""]):
        writer.write(link)
    assert out.getvalue().splitlines()[0] == "heart attack\tD:3"
    assert out.getvalue().splitlines()[-1] == "\t"


def test_the_loss_is_that_of_its_pairs(shown: dict[str, Any]) -> None:
    similarities = torch.tensor([[0.9, 0.7, 0.1]])
    loss = shown["Contrastive"](margin=0.4)
    positives, negatives = torch.tensor([[True, False, False]]), torch.tensor([[False, True, True]])
    assert float(loss(similarities, positives, negatives)) == pytest.approx((0.1 + 0.3 + 0) / 3)


def test_the_rules_of_a_language_are_its_own(shown: dict[str, Any]) -> None:
    rules = shown["RULES"]
    assert rules.recognises("infektionen der atemwege: übelkeit")
    assert list(rules.forms("infektionen")) == ["infektion"]
