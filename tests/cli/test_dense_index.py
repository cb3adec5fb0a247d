"""Dense indexes from the command line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from nymlink.core.store.manifest import write_manifest
from tests.cli.conftest import Run
from tests.encode import tiny


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.folder(tmp_path_factory.mktemp("model") / "tiny")


@pytest.fixture(scope="module")
def dense(run: Run, built: Path, model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dense")
    options = ("--encoder", model, "--cache", folder / "cache")
    result = run("index", "build", built / "vocab", "-o", folder / "index", *options)
    assert result.exit_code == 0, result.stderr
    assert list((folder / "cache").rglob("*.npy"))
    return folder / "index"


def test_names_that_are_cut_are_counted_once_for_all_input(run: Run, dense: Path) -> None:
    many = "".join(f"{'short stature ' * number}\n" for number in range(1, 61))
    # Twenty at a time; all but the first are no names of the index.
    result = run("link", "--index", dense, "--top-k", 500, input=many)
    assert result.exit_code == 0
    assert result.stderr.count("were cut") == 1
    assert "49 of 59 names are longer than 25 tokens and were cut" in result.stderr


def test_many_names_are_said_to_be_searched_faster_otherwise(
    run: Run, built: Path, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ("index", "build", built / "vocab", "-o", tmp_path / "index", "--encoder", model)
    assert "ivf-pq" not in run(*options).stderr
    monkeypatch.setattr("nymlink.cli.index.MOST_EXACT", 2)
    assert "searched faster with --dense ivf-pq" in run(*options).stderr
    assert "ivf-pq" not in run(*options[:5], "--encoder", "none").stderr


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "processed_dev"
    folder.mkdir()
    (folder / "1.concept").write_text(
        "1||0|12||Disease||heart atack||X:1\n1||30|40||Disease||statures||X:3\n1||50|60||Disease||blah||X:99\n",
        encoding="utf-8",
    )
    return folder


def test_info_says_what_it_was_built_with(run: Run, dense: Path, model: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(dense, tmp_path / "copy")
    manifest = json.loads((copy / "manifest.json").read_text(encoding="utf-8"))
    manifest["settings"]["encoder"]["name"] = "/nowhere"
    write_manifest(copy, manifest)
    # No encoder is needed to say so.
    said = run("index", "info", copy).stdout
    assert "search    dense, weight 0.75" in said
    assert "setting   encoder name: /nowhere" in said
    assert "setting   encoder width: 32" in said
    assert "setting   dense: exact" in said
    result = run("link", "--index", copy, "heart attack")
    assert result.exit_code == 2
    assert "say where it is now (`nymlink index set --encoder`)" in result.stderr
    assert result.stdout == ""
    found = run("index", "set", copy, "--encoder", model)
    assert (found.exit_code, found.stdout) == (0, f"encoder {model} → {copy}\n")
    result = run("link", "--index", copy, "heart attack", "--format", "jsonl")
    assert result.exit_code == 0, result.stderr
    [candidate] = json.loads(result.stdout)["candidates"]
    assert candidate["concept_id"] == "X:1"
    assert candidate["parts"].keys() == {"exact", "sparse", "dense", "writing"}


def test_dense_search_alone(run: Run, built: Path, model: Path, tmp_path: Path) -> None:
    options = ("--encoder", model, "--device", "cpu", "--sparse", "none", "--fusion", "reciprocal-rank")
    assert run("index", "build", built / "vocab", "-o", tmp_path / "i", *options).exit_code == 0
    assert "fusion    reciprocal-rank" in run("index", "info", tmp_path / "i").stdout
    assert "X:1\t" in run("link", "--index", tmp_path / "i", "heart attack").stdout


def test_options_that_mean_nothing_are_refused(run: Run, built: Path, model: Path, tmp_path: Path) -> None:
    build = ("index", "build", built / "vocab", "-o", tmp_path / "i")
    for options in (
        ("--encoder", "none", "--dense", "hnsw"),
        ("--encoder", "none", "--cache", tmp_path / "c"),
        ("--encoder", "none", "--device", "cpu"),
        ("--encoder", tmp_path / "no such model"),
        ("--encoder", model, "--device", "tpu"),
    ):
        result = run(*build, *options)
        assert result.exit_code == 2
        assert "Traceback" not in result.output
        assert not (tmp_path / "i").exists()
    result = run("index", "set", built / "index", "--encoder", "x")
    assert result.exit_code == 2
    assert "needs no encoder" in result.stderr


def test_an_encoder_of_another_width_is_refused(
    run: Run, dense: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(tiny._SIZES, "hidden_size", 48)
    before = (dense / "manifest.json").read_bytes()
    result = run("index", "set", dense, "--encoder", tiny.folder(tmp_path / "wide"))
    assert result.exit_code == 2
    assert "makes vectors of width 48, but those of the index have width 32" in result.stderr
    assert (dense / "manifest.json").read_bytes() == before


def test_fusion_is_chosen_and_fitted(run: Run, dense: Path, corpus: Path, tmp_path: Path) -> None:
    index = shutil.copytree(dense, tmp_path / "index")
    weights = ("--weight", "exact=1", "--weight", "dense=3")
    result = run("index", "set", index, *weights)
    assert result.stdout == f"weighted: exact 0.25, sparse 0, dense 0.75 → {index}\n"
    result = run("index", "fit", index, corpus)
    assert result.exit_code == 0, result.stderr
    before, after, compared = result.stdout.splitlines()
    assert before.endswith("weighted: exact 0.25, sparse 0, dense 0.75")
    assert after.startswith("after   Acc@1 66.7  Acc@5 66.7")
    assert compared == f"232 weightings compared on 3 mentions → {index}"
    fitted = json.loads((index / "manifest.json").read_text(encoding="utf-8"))["settings"]["fusion"]["weights"]
    assert sum(fitted.values()) == pytest.approx(1)
    run("evaluate", "--index", index, "--corpus", corpus, "--json", tmp_path / "run.json")
    assert json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))["acc@1"] == pytest.approx(2 / 3)
    assert run("index", "set", index, "--fusion", "reciprocal-rank").exit_code == 0
    assert "search    dense, weight 0.333" in run("index", "info", index).stdout
    for wrong in ("dense=much", "dense", "density=1", "dense=-1"):
        result = run("index", "set", index, "--weight", wrong)
        assert result.exit_code == 2, wrong
        assert "Traceback" not in result.output


def test_an_augmented_dictionary_is_searched_densely_too(
    run: Run, dense: Path, corpus: Path, tmp_path: Path
) -> None:
    options = ("--corpus", corpus, "--augment", corpus, "--json", tmp_path / "run.json")
    result = run("evaluate", "--index", dense, *options)
    assert result.exit_code == 0, result.stderr
    found = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    assert found["acc@1"] == pytest.approx(2 / 3)
    assert found["settings"]["index"]["fusion"]["weights"]["dense"] == pytest.approx(0.75)


def test_the_encoder_that_comes_with_nymlink_is_the_default(run: Run, built: Path, tmp_path: Path) -> None:
    result = run("index", "build", built / "vocab", "-o", tmp_path / "i")
    assert result.exit_code == 0, result.stderr
    said = run("index", "info", tmp_path / "i").stdout
    assert "nymlink-mini" in said
    found = run("link", "--index", tmp_path / "i", "--format", "jsonl", "abnormally small height").stdout
    assert json.loads(found)["candidates"][0]["concept_id"] == "X:3"


def test_scripts_that_the_encoder_does_not_know_are_said_once(run: Run, built: Path) -> None:
    folder = built / "mini"
    assert run("index", "build", built / "vocab", "-o", folder).exit_code == 0
    result = run("link", "--index", folder, "--top-k", 5000, input="발작\n" * 50 + "MI\n")
    assert result.exit_code == 0
    assert result.stderr.count("50 of 51 mentions are written in Hangul, which the encoder nymlink-mini") == 1
    assert "pip install 'nymlink[xl]'" in result.stderr


def test_a_store_is_recorded_without_credentials(run: Run, built: Path, model: Path, tmp_path: Path) -> None:
    pytest.importorskip("milvus_lite")
    index, url = tmp_path / "index", tmp_path / "names.db"
    result = run("index", "build", built / "vocab", "-o", index, "--encoder", model, "--store", url)
    assert result.exit_code == 0, result.stderr
    shown = run("index", "info", index).stdout
    assert f"store url: {url}" in shown
    assert "store name: nymlink_" in shown
    assert "X:1" in run("link", "--index", index, "heart attack").stdout


def test_a_store_that_is_not_there_is_one_line(run: Run, built: Path, model: Path, tmp_path: Path) -> None:
    pytest.importorskip("psycopg")
    options = ("index", "build", built / "vocab", "-o", tmp_path / "index", "--store")
    result = run(*options, "postgresql://me:s3cret@127.0.0.1:1/terms", "--encoder", model)
    assert result.exit_code == 2
    assert "the store postgresql://me@127.0.0.1:1/terms cannot be reached" in result.stderr
    assert "s3cret" not in result.output
    assert not (tmp_path / "index").exists()
    assert "give an --encoder too" in run(*options, "postgresql://me@db/terms", "--encoder", "none").stderr
    assert "postgresql://USER@HOST/DATABASE" in run(*options, "mysql://me:s3cret@db/x", "--encoder", model).stderr
