"""`nymlink rerank`, and which index what it fits is for."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch

from nymlink.core.store.manifest import write_manifest
from nymlink.rerank.dual_encoder import DualEncoder, DualEncoderConfig
from tests.cli.conftest import Run
from tests.encode import tiny

PUBTATOR = "\n".join(
    f"{number}|t|A small MI.\n{number}|a|The MI was large.\n"
    f"{number}\t8\t10\tMI\tDisease\tX:2\n{number}\t16\t18\tMI\tDisease\tX:2\n"
    for number in range(30)
)


@pytest.fixture
def reranker(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    model = DualEncoder.from_encoder(tiny.folder(tmp_path / "base"), DualEncoderConfig(max_length=64))
    model.save(tmp_path / "reranker")
    return tmp_path / "reranker"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    (tmp_path / "notes.PubTator.txt").write_text(PUBTATOR, encoding="utf-8")
    return tmp_path / "notes.PubTator.txt"


def test_an_order_is_for_the_index_that_it_was_fitted_to(
    run: Run, built: Path, corpus: Path, reranker: Path, tmp_path: Path
) -> None:
    index = shutil.copytree(built / "index", tmp_path / "index")
    fit, evaluate = (("rerank", name, reranker, corpus, "--index", index) for name in ("fit", "evaluate"))
    link = ("link", "--index", index, "--corpus", corpus, "--settings", f"rerank={reranker}")
    warning = f"Warning: {reranker}: it was fitted with an index"
    assert run(*fit).exit_code == 0
    assert run("index", "set", index, "--weight", "exact=1", "--weight", "sparse=1").exit_code == 0
    for command in (evaluate, link):
        warned = run(*command)
        assert (warned.exit_code, warning in warned.stderr) == (0, True)
    assert all(warning not in run(*command).stderr for command in (fit, evaluate, link))


def test_what_was_fitted_and_is_damaged_is_fitted_again(
    run: Run, built: Path, corpus: Path, reranker: Path
) -> None:
    fit, evaluate = (
        ("rerank", name, reranker, corpus, "--index", built / "index") for name in ("fit", "evaluate")
    )
    manifest = reranker / "manifest.json"
    whole = json.loads(manifest.read_text(encoding="utf-8"))
    write_manifest(reranker, {**whole, "fitted": {"weights": {"context": -1}, "candidates": 3}})
    refused = run(*evaluate)
    assert (refused.exit_code, "run `nymlink rerank fit` again" in refused.stderr) == (2, True)
    assert run(*fit).exit_code == 0
    assert json.loads(manifest.read_text(encoding="utf-8"))["fitted"]["candidates"] == 64
    assert run(*evaluate).exit_code == 0


def test_no_output_replaces_another_or_what_is_read(
    run: Run, built: Path, corpus: Path, reranker: Path, tmp_path: Path
) -> None:
    evaluate = ("rerank", "evaluate", reranker, corpus, "--index", built / "index")
    twice = run(*evaluate, "--output", tmp_path / "out", "--changes", tmp_path / "out")
    assert (twice.exit_code, "would be written twice" in twice.stderr) == (2, True)
    before = corpus.read_text(encoding="utf-8")
    read = run(*evaluate, "--changes", corpus)
    assert (read.exit_code, "is an input and would be overwritten" in read.stderr) == (2, True)
    assert corpus.read_text(encoding="utf-8") == before
