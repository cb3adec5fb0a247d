"""The benchmark of peers, on toys, where no figure means anything."""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.encode import tiny
from tests.evaluation import toy_data

Script = Callable[[str], Any]

HPO = 'format-version: 1.2\n\n[Term]\nid: HP:0000001\nname: Seizure\nsynonym: "fever fit" EXACT []\n'


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: Script) -> Path:
    """A folder for figures, where the data folder is one of toys."""
    monkeypatch.setenv("NYMLINK_DATA", str(toy_data.write(tmp_path / "data")))
    # Restored in the end: a peer sets it.
    monkeypatch.setenv("NYMLINK_CACHE", str(tmp_path / "cache"))
    ontology = tmp_path / "hp.obo"
    ontology.write_text(HPO, encoding="utf-8")
    monkeypatch.setattr(script("peers.prepare"), "ontology", lambda: ontology)
    place = tmp_path / "room"
    place.mkdir()
    return place


def test_peers_are_measured_side_by_side(
    room: Path, run_here: list[str], monkeypatch: pytest.MonkeyPatch, script: Script, capsys: Any
) -> None:
    run, file = script("peers.run"), room / "peers.json"
    keys = ["exact", "nymlink_sparse", "plain", "nymlink_annotate"]
    command = ["peers", str(room), "--only", *keys, "--sizes", "1", "2", "--json", str(file)]
    monkeypatch.setattr(sys, "argv", command)
    run.main()
    made = json.loads(file.read_text(encoding="utf-8"))
    exact, *_ = made["accuracy"]
    # "flu" is a name of two concepts, of which gold is the second.
    assert exact["NCBI dev, bare (3)"] == "33.3/66.7"
    assert exact["NCBI dev, bare, unseen (1)"] == "0.0/0.0"
    by_label = {row["linker"]: row for row in made["accuracy"]}
    assert by_label["nymlink, no encoder"]["NCBI dev, bare (3)"] == "66.7/100.0"
    assert by_label["gilda 1.6.1: not measured"] == {"linker": "gilda 1.6.1: not measured"}
    texts = {row["annotator"]: row.get("documents F1") for row in made["texts"]}
    assert texts["runs of words, longest match"] == texts["**`nymlink annotate`**"] == "66.7"
    assert [row["names"] for row in made["largest"] if "equal" in row["peer"]] == [2]
    assert "| equal names | 33.3/66.7 | 0.0/0.0 |" in capsys.readouterr().out
    # What is kept is not measured again, until a size is added.
    run_here.clear()
    monkeypatch.setattr(sys, "argv", [*command, "--sizes", "1", "2", "3"])
    run.main()
    assert run_here.count("peers.measuring:search") == 2
    assert run_here.count("peers.measuring:annotate") == 2


def test_linkers_find_what_is_alike(room: Path, tmp_path: Path, script: Script) -> None:
    prepare, dictionary = script("peers.prepare"), script("peers.dictionary").Dictionary(room)
    [tasks] = prepare.dictionaries(test=False)["groups"]
    assert len(tasks) == 4
    prepare.linking(tasks, str(room), limit=None)
    vectors, encoder = script("peers.vectors"), str(tiny.folder(tmp_path / "model"))
    filled = [vectors.fill(str(room), str(tmp_path / "store"), "tiny", encoder)["encoded"] for _ in range(2)]
    assert filled == [len(dictionary.names), 0]
    dense = {"store": str(tmp_path / "store"), "encoder": "tiny", "weights": encoder}
    needs = {"ratio": "rapidfuzz", "semantic_search": "sentence_transformers", "xmen_graph": "faiss"}
    settings = dict.fromkeys(("sapbert_way", "biosyn_way", "semantic_search", "xmen_graph"), dense)
    for name in ("exact", "tfidf", "ratio", *settings):
        if name in needs and not find_spec(needs[name]):
            continue
        module, index = script(f"peers.linkers.{name}"), tmp_path / name
        index.mkdir()
        own = settings.get(name, {})
        if own:
            module.build(dictionary, index, **own)
        search = module.load(dictionary, index, **own)
        for row, found in enumerate(search(dictionary.names)):
            assert found[: len(dictionary.concepts[row])] == dictionary.concepts[row], name
            assert len(found) == len(set(found)) <= 5


def test_the_largest_come_first(script: Script) -> None:
    scores = np.random.default_rng(0).random((4, 200)).round(1) - 0.5
    for line, found in zip(scores, script("peers.dictionary").largest(scores), strict=True):
        naive = sorted(range(len(line)), key=lambda row: -line[row])[:64]
        assert [line[row] for row in found] == [line[row] for row in naive if line[row] > 0]


def test_a_window_begins_and_ends_with_a_word_that_counts(script: Script) -> None:
    text = "loss of the hair"
    found = [text[start:end] for start, end in script("peers.annotators.simstring_windows").windows(text)]
    assert found == ["loss", "loss of the hair", "hair"]


def test_of_overlapping_names_the_longest_is_found(script: Script) -> None:
    matcher = script("peers.annotators.aho_corasick")
    assert matcher.longest([(0, 4, 1), (0, 9, 2), (5, 12, 3), (9, 12, 4)]) == [(0, 9, 2), (9, 12, 4)]
    assert not matcher._whole("seizures", 0, 7)
    assert matcher._whole("a seizure.", 2, 9)


@pytest.mark.large
def test_an_environment_has_what_is_installed_and_is_thrown_away(tmp_path: Path, script: Script) -> None:
    environments, wheel = script("peers.environments"), tmp_path / "toy_peer-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("toy_peer.py", "")
        archive.writestr("toy_peer-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: toy-peer\nVersion: 1\n")
        archive.writestr("toy_peer-1.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr("toy_peer-1.dist-info/RECORD", "")
    place = tmp_path / "environment"
    with environments.environment(place, [str(wheel)]) as python:
        assert Path(python).is_relative_to(place)
        assert len(list(place.rglob("toy_peer.py"))) == 1
    assert not place.exists()
    with environments.environment(place, []) as python:
        assert python == sys.executable
    with pytest.raises(environments.NotInstalledError, match="no-such-file"):
        environments.install(place, [str(tmp_path / "no-such-file.whl")])


def test_what_cannot_be_installed_has_its_reason_in_the_table(
    room: Path, monkeypatch: pytest.MonkeyPatch, script: Script
) -> None:
    run, environments = script("peers.run"), script("peers.environments")
    monkeypatch.setattr(environments.sys, "executable", str(room / "no-python"))
    [gilda] = [peer for peer in run.LINKERS if peer.key == "gilda"]
    plan = {"linkers": ["dev 0"], "growth": []}
    steps = run.measure(gilda, "linkers", room, plan, minutes=1)
    row = script("peers.tables")._accuracy(steps, ["dev 0"])
    assert row["linker"].startswith("gilda 1.6.1: not installed: ")
    assert "no-python" in row["linker"]


def test_growth_stops_where_it_would_take_too_long(
    room: Path, monkeypatch: pytest.MonkeyPatch, script: Script
) -> None:
    run, steps_of, measured = script("peers.run"), script("peers.steps").Steps, []
    steps = steps_of(run.LINKERS[0], "linkers", room)

    def measure(self: Any, name: str, *_: Any, **__: Any) -> None:
        measured.append(name)
        self.keep(name, {"start_seconds": 1, "seconds": int(name) / 10})

    monkeypatch.setattr(steps_of, "measure", measure)
    run._grow(steps, ["100", "300", "1000", "3000"], sys.executable, minutes=1)
    assert measured == ["100", "300"]
    assert steps.done["1000"] == steps.done["3000"] == {"stopped": "more than 1 minutes"}


def test_growth_is_drawn(script: Script) -> None:
    pytest.importorskip("matplotlib")
    steps = {
        str(size): {"build_seconds": 1.0, "start_seconds": size / 9, "per_second": 9e5 / size, "peak_mb": size}
        for size in (10, 100)
    }
    peers = {
        "a": {
            "short": "others",
            "kind": "linkers",
            "steps": {**steps, "1000": {"stopped": "more than 5 minutes"}},
        },
        "b": {"short": "nymlink", "kind": "linkers", "steps": steps},
        "c": {"short": "nymlink annotate", "kind": "annotators", "steps": steps},
    }
    axes = script("peers.picture").draw(peers).axes
    assert [len(one.lines) for one in axes] == [2, 2, 2, 1, 1, 1]
    assert axes[1].lines[0].get_xydata().tolist() == [[10, 9e4], [100, 9e3]]
    assert {text.get_text() for text in axes[0].texts} == {"others", "nymlink"}
