"""What a user's type checker, and a user who tries things, sees of the package."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import nymlink
from nymlink import Candidate, InputError, Link, Mention, Name
from nymlink.index.index import Index
from nymlink.linking.linker import Linker

SCRIPT = Path(__file__).with_name("typed_script.py")


@pytest.mark.large
@pytest.mark.parametrize(("added", "errors"), [("", 0), ("import nymlink\nx: int = nymlink.link('gout')\n", 1)])
def test_a_user_script_passes_pyright(added: str, errors: int, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT.read_text(encoding="utf-8") + added, encoding="utf-8")
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "standard"}', encoding="utf-8")
    # A fork of pyright that brings its own Node, so that nothing is fetched.
    command = [sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable, "-p", str(tmp_path)]
    done = subprocess.run([*command, "--outputjson"], capture_output=True, encoding="utf-8")
    assert json.loads(done.stdout)["summary"]["errorCount"] == errors, done.stdout + done.stderr


@pytest.mark.large
def test_a_user_script_passes_mypy_strict(tmp_path: Path) -> None:
    config = tmp_path / "mypy.ini"
    # What the package imports inside is not the user's, and takes minutes.
    others = ",".join(
        f"{name}.*" for name in packages_distributions() if name.isidentifier() and name != "nymlink"
    )
    config.write_text(
        "[mypy]\nstrict = True\nfollow_imports = silent\nignore_missing_imports = True\n"
        f"[mypy-{others}]\nfollow_imports = skip\nfollow_imports_for_stubs = True\n",
        encoding="utf-8",
    )
    options = ["--config-file", str(config), "--cache-dir", str(tmp_path / "cache")]
    command = [sys.executable, "-m", "mypy", *options, str(SCRIPT)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr


_WITHOUT_EXTRAS = """
import sys
class NotInstalled:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in "torch transformers safetensors peft onnx syntok tomli_w scipy".split():
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, NotInstalled())
from nymlink import *
import nymlink, pydoc
assert "train_sap" in pydoc.render_doc(nymlink)
assert all(hasattr(nymlink, name) for name in dir(nymlink))
for train in (train_biosyn, train_cross_encoder, train_finetune, train_rerank, train_sap, train_translation):
    try:
        train(None)
    except MissingExtraError as error:
        assert "nymlink[train]" in str(error) and train.__name__ in str(error)
    else:
        raise AssertionError(train)
from click.testing import CliRunner
from nymlink.cli.train import train as commands
answer = CliRunner().invoke(commands, ["rank", "--help"])
assert answer.exit_code == 0, answer.output
"""


def test_names_and_help_need_no_extra() -> None:
    done = subprocess.run([sys.executable, "-c", _WITHOUT_EXTRAS], capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr


def _link() -> Link:
    name = Name("gout", "T:1")
    return Link(Mention("Gout"), "gout", (Candidate("T:1", "gout", name, 1.0, {"exact": 1.0}),))


def test_links_are_keys_of_sets_and_their_scores_do_not_change() -> None:
    link = _link()
    assert {link, _link()} == {link}
    parts = link.candidates[0].parts
    for change in ("parts['exact'] = 0", "parts.clear()", "parts.update(dense=1)", "del parts['exact']"):
        with pytest.raises(TypeError, match="cannot be changed"):
            exec(change, {"parts": parts})
    assert pickle.loads(pickle.dumps(link)) == copy.deepcopy(link) == link
    assert nymlink.Links([link]).to_dicts()[0]["concept_id"] == "T:1"


@pytest.mark.parametrize("top_k", ["3", 0, -1, 2.5, True])
def test_a_wrong_number_of_candidates_is_named(top_k: object, tiny: Index) -> None:
    with pytest.raises(InputError, match="top_k is a whole number from 1, not"):
        Linker(tiny, top_k=top_k)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="top_k is a whole number from 1, not"):
        Linker(tiny).link("gout", top_k=top_k)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Index:
    table = tmp_path_factory.mktemp("tiny") / "own.csv"
    table.write_text("id,name\nT:1,gout\n", encoding="utf-8")
    return Linker.build(table, encoder=None).index


def test_generators_and_missing_mentions_are_linked(tiny: Index) -> None:
    with pytest.warns(UserWarning, match="missing"):
        links = Linker(tiny).link(name for name in ("gout", None))
    assert [row["mention"] for row in links.to_dicts()] == ["gout", None]
