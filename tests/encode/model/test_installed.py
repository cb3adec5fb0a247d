"""Encoders that packages carry are found by name, wherever an encoder is taken."""

from __future__ import annotations

import importlib
import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from nymlink.cli import nymlink
from nymlink.core.errors import MissingExtraError, NymlinkError
from nymlink.core.registry import Registry
from nymlink.encode.encoder import Encoder
from nymlink.encode.model.folder import (
    ENCODERS,
    FOLDER,
    MINI,
    installed,
    installed_calibration,
    installed_digest,
    installed_ranker,
)
from nymlink.index.index import Index
from tests.index.small import vocabulary

VOCABULARY = vocabulary({"X:1": ["short stature"], "X:2": ["seizure"]})
Install = Callable[..., Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Install a package of somebody else's that carries an encoder; return the folder of the package."""
    site = tmp_path / "site"

    def write(model: Path | None, *, name: str = "tiny-encoder") -> Path:
        package, info = site / "tiny_package", site / "tiny-1.0.dist-info"
        for folder in (package, info):
            folder.mkdir(parents=True)
        value = "FOLDER = Path(__file__).parent / 'tiny-encoder'" if model else "FOLDER = 'somewhere'"
        (package / "__init__.py").write_text(f"from pathlib import Path\n{value}\n", encoding="utf-8")
        if model:
            shutil.copytree(model, package / "tiny-encoder")
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n", encoding="utf-8")
        (info / "entry_points.txt").write_text(
            f"[{ENCODERS.group}]\n{name} = tiny_package:FOLDER\n", encoding="utf-8"
        )
        monkeypatch.syspath_prepend(str(site))
        importlib.invalidate_caches()
        # A registry as a new process has it: entry points are looked for once in each.
        monkeypatch.setattr("nymlink.encode.model.folder.ENCODERS", Registry(ENCODERS.group, noun=ENCODERS.noun))
        return package

    yield write
    sys.modules.pop("tiny_package", None)


def test_the_encoder_that_comes_with_nymlink_is_an_entry() -> None:
    assert installed(MINI) == FOLDER
    assert installed(Path(MINI)) is None
    assert installed("no-such-encoder") is None


def test_an_encoder_of_another_package_is_loaded_by_its_name(install: Install, exported: Path) -> None:
    folder = install(exported) / "tiny-encoder"
    encoder = Encoder.load("tiny-encoder")
    assert (encoder.name, encoder.backend) == ("tiny-encoder", "onnx")
    assert installed("tiny-encoder") == folder
    assert encoder.fingerprint == Encoder.load(exported).fingerprint


@pytest.mark.filterwarnings("error")
def test_an_index_asks_for_it_without_a_warning(install: Install, exported: Path, tmp_path: Path) -> None:
    install(exported)
    Index.build(VOCABULARY, directory=tmp_path / "i", encoder="tiny-encoder")
    index = Index.load(tmp_path / "i")
    assert index.settings["encoder"]["name"] == "tiny-encoder"
    assert index.match(["short stature"], 1).concepts.tolist() == [[0]]


def test_the_command_line_takes_its_name(install: Install, exported: Path) -> None:
    install(exported)
    shown = CliRunner().invoke(nymlink, ["encoder", "info", "tiny-encoder"])
    assert shown.exit_code == 0, shown.output
    assert "fingerprint" in shown.output


def test_a_calibration_lies_beside_the_folder(install: Install, exported: Path) -> None:
    package = install(exported)
    fingerprint = Encoder.load("tiny-encoder").fingerprint
    assert installed_calibration("tiny-encoder", fingerprint) is None
    known = {"fingerprint": fingerprint, "calibration": {"kept": "as it is"}}
    (package / "tiny-encoder.calibration.json").write_text(json.dumps(known), encoding="utf-8")
    assert installed_calibration("tiny-encoder", fingerprint) == {"kept": "as it is"}
    assert installed_calibration("tiny-encoder", "of other settings") is None
    assert installed_calibration(str(package / "tiny-encoder"), fingerprint) is None
    assert installed_calibration(None, fingerprint) is None


def test_a_ranker_lies_beside_the_folder_and_is_of_the_release(install: Install, exported: Path) -> None:
    package = install(exported)
    fingerprint = Encoder.load("tiny-encoder").fingerprint
    assert installed_ranker("tiny-encoder", fingerprint) is None
    digests = [installed_digest("tiny-encoder")]
    for name in ("ranker", "calibration"):
        known = {"fingerprint": fingerprint, name: {"kept": name}}
        (package / f"tiny-encoder.{name}.json").write_text(json.dumps(known), encoding="utf-8")
        digests.append(installed_digest("tiny-encoder"))
    assert installed_ranker("tiny-encoder", fingerprint) == {"kept": "ranker"}
    assert installed_ranker("tiny-encoder", "of other settings") is None
    assert installed_ranker(None, fingerprint) is None
    # What was built with the release before is built again.
    assert len(set(digests)) == 3


def test_what_is_no_folder_is_refused(install: Install) -> None:
    install(None)
    with pytest.raises(NymlinkError, match=r"'tiny-encoder' of .* must be the path of a model folder"):
        Encoder.load("tiny-encoder")


@pytest.mark.skipif("nymlink-xl-mini" in ENCODERS.names(), reason="nymlink-xl-mini is installed")
def test_an_encoder_of_ours_that_is_not_installed_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(MissingExtraError, match=r"pip install 'nymlink\[xl\]'"):
        Encoder.load("nymlink-xl-mini")
    table = tmp_path / "names.tsv"
    table.write_text("concept_id\tname\nX:1\tseizure\n", encoding="utf-8")
    asked = ["index", "build", str(table), "-o", str(tmp_path / "i"), "--encoder", "nymlink-xl-mini"]
    refused = CliRunner().invoke(nymlink, asked)
    assert refused.exit_code == 2
    assert "pip install 'nymlink[xl]'" in refused.output
