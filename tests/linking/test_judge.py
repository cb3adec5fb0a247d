"""The judge, against a chat server on this machine."""

from __future__ import annotations

import json
import pickle
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import nymlink.linking.judge as judges
from nymlink.cli import nymlink
from nymlink.core.errors import InputError
from nymlink.corpus.documents import Document, Mention
from nymlink.index.index import Index
from nymlink.linking.calibration import CONFIDENCE_FEATURES, Calibration
from nymlink.linking.judge import KEY, Judge, JudgeSettings, read_answer
from nymlink.linking.linker import Linker
from tests.linking.chat import ChatServer
from tests.linking.toy import built_index


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(judges, "_WAIT", 0.01)
    monkeypatch.setenv("NYMLINK_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv(KEY, raising=False)


TEXT = "He was ill. The MI of 1990 was treated."
NOTE = Document("n", TEXT, (Mention("MI", 16, 18), Mention("MI", 16, 18)))


def linker(url: str, file: Path, **settings: Any) -> Linker:
    given = {"below": 1.0, **settings}
    return Linker(calibrated(), top_k=3, judge=Judge(JudgeSettings(url=url, file=str(file), **given)))


CALIBRATION = Calibration(-9.0, dict.fromkeys(CONFIDENCE_FEATURES, 1.5), ((0.0, 0.5),), "nothing")


def calibrated() -> Index:
    return built_index().with_calibration(CALIBRATION.to_dict())


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def place_of(body: dict[str, Any], name: str) -> str:
    """Answer with the candidate that has a name."""
    listed = body["messages"][1]["content"].split("Candidates:\n")[1].splitlines()
    return json.dumps({"answer": next((at for at, line in enumerate(listed, start=1) if name in line), 0)})


def test_the_model_chooses_a_candidate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "asked.jsonl"
    with ChatServer(lambda body: place_of(body, "mitral insufficiency")) as server:
        given = linker(server.url, log)
        before = Linker(calibrated(), top_k=10).link(NOTE)
        first, again = given.link(NOTE)
        assert [link.candidates[0].concept_id for link in before] == ["D:3", "D:3"]
        assert first.best is not None
        assert (first.best.concept_id, first.confidence, first.nil) == ("D:4", None, False)
        assert len(first.candidates) == 3
        assert first.candidates[1].concept_id == "D:3"
        assert first.notes[-1] == "small chose candidate 2"
        assert again.candidates == first.candidates
    [asked] = server.asked
    assert {asked["temperature"], asked["seed"]} == {0}
    question = asked["messages"][1]["content"]
    assert question.startswith("Mention: MI\nSentence: The MI of 1990 was treated.\nCandidates:\n1. myocardial")
    assert "He was ill" not in question
    assert server.url in capsys.readouterr().err
    [line] = lines(log)
    assert (line["mention"], line["choice"], line["concept_id"], line["model"]) == ("MI", 2, "D:4", "small")
    assert line["question"] == question
    # An earlier answer is used again: without requests, and by another judge.
    with ChatServer(lambda _: 500) as silent:
        later = linker(silent.url, log, most_requests=1)
        assert later.link(NOTE)[0].candidates == first.candidates
        assert silent.asked == []


def test_the_model_chooses_none_or_the_first(tmp_path: Path) -> None:
    with ChatServer(lambda _: '<think>{"answer": 2}</think>```{"answer": "0"}```') as server:
        link = linker(server.url, tmp_path / "a").link("mi")
        assert (link.nil, link.best, link.judged) == (True, None, "small chose no candidate")
        assert link.candidates
    with ChatServer(lambda _: " 1. ") as server:
        link = linker(server.url, tmp_path / "b").link("mi")
        assert (link.nil, link.judged) == (False, "small chose candidate 1")
        assert link.confidence == Linker(calibrated()).link("mi").confidence


def test_only_doubtful_links_are_asked_about(tmp_path: Path) -> None:
    with ChatServer(lambda _: "1") as server:
        given = linker(server.url, tmp_path / "a", below=0.9)
        links = given.link(["ovarian cancer", "cancer of liver or so", "zzz", ""])
        assert [link.judged is not None for link in links] == [False, True, False, False]
        assert len(server.asked) == 1
        # Without doubts, the server is not even asked for its models.
        assert Linker(calibrated(), top_k=3).link("ovarian cancer") == given.link("ovarian cancer")


def test_the_parts_of_a_composite_mention_are_judged(tmp_path: Path) -> None:
    with ChatServer(lambda body: "0" if "Mention: ovarian" in body["messages"][1]["content"] else "1") as server:
        link = linker(server.url, tmp_path / "a").link(
            Mention("both", parts=("breast lump cancer", "ovarian cyst"))
        )
        assert [part.nil for part in link.parts] == [False, True]
        assert link.nil
        assert "small chose no candidate" in link.notes


def is_unchanged(link: Any, reason: str) -> bool:
    before = Linker(calibrated(), top_k=3).link(link.mention)
    assert reason in link.judged
    return (link.candidates, link.confidence, link.nil) == (before.candidates, before.confidence, before.nil)


@pytest.mark.parametrize(
    ("said", "reason", "requests"),
    [
        ("I think it is the heart.", "the answer names no candidate", 1),
        ('{"answer": 99}', "the answer names no candidate", 1),
        (b"<html>", "the response is no JSON", 1),
        (b'{"choices": []}', "the response is no chat completion", 1),
        (b"x" * (2 << 20), "more than", 1),
        (404, "HTTP status 404", 1),
        (302, "HTTP status 302", 1),
        (503, "HTTP status 503", 3),
        (9.0, "no answer in 0.3 s", 1),
    ],
)
def test_a_link_stays_if_the_answer_is_unusable(tmp_path: Path, said: Any, reason: str, requests: int) -> None:
    log = tmp_path / "a"
    with ChatServer(lambda _: said) as server:
        link = linker(server.url, log, seconds=0.3).link("mi")
        assert is_unchanged(link, reason)
        assert len(server.asked) == requests
    [line] = lines(log)
    assert line["choice"] is None
    assert reason in line["problem"]
    # It is asked again the next time.
    with ChatServer(lambda _: "1") as server:
        assert linker(server.url, log).link("mi").judged == "small chose candidate 1"


def test_a_later_try_may_succeed(tmp_path: Path) -> None:
    replies = iter([500, 429, '{"answer": 1}'])
    with ChatServer(lambda _: next(replies)) as server:
        assert linker(server.url, tmp_path / "a").link("mi").judged == "small chose candidate 1"
    assert [line["tries"] for line in lines(tmp_path / "a")] == [3]


def test_a_judge_that_is_down_is_not_asked_for_ever(tmp_path: Path) -> None:
    with ChatServer(lambda _: "1") as server:
        pass
    with pytest.warns(UserWarning, match="does not name its model"):
        links = linker(server.url, tmp_path / "a").link([f"mi {number}" for number in range(30)])
    assert all(is_unchanged(link, "no connection") for link in links[:1])
    assert sum("in a row" in (link.judged or "") for link in links) >= 20
    assert len(lines(tmp_path / "a")) < 10


def test_requests_are_limited(tmp_path: Path) -> None:
    with ChatServer(lambda _: "1") as server:
        links = linker(server.url, tmp_path / "a", most_requests=3).link([f"mi {number}" for number in range(9)])
        assert len(server.asked) == 3
    assert sum(link.judged == "not judged: 3 requests were made" for link in links) == 6


def test_half_a_line_of_a_killed_run_is_skipped(tmp_path: Path) -> None:
    log = tmp_path / "a"
    log.write_text('{"digest": "1", "choice": 1, "candidates": ["D:1"]}\n{"digest": "2", "ch', encoding="utf-8")
    with ChatServer(lambda _: "1") as server:
        assert linker(server.url, log).link("mi").judged == "small chose candidate 1"
    assert len(log.read_text(encoding="utf-8").splitlines()) == 3
    assert json.loads(log.read_text(encoding="utf-8").splitlines()[2])["mention"] == "mi"


def test_the_key_goes_to_the_server_and_nowhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "s3cret")
    with ChatServer(lambda _: "1") as server:
        linker(server.url, tmp_path / "a").link("mi")
        assert server.headers[0]["Authorization"] == "Bearer s3cret"
    assert "s3cret" not in (tmp_path / "a").read_text(encoding="utf-8")


def test_a_server_with_several_models_asks_for_one(tmp_path: Path) -> None:
    with ChatServer(lambda _: "1", models=("one", "two")) as server:
        with pytest.raises(InputError, match="several models \\(one, two\\)"):
            linker(server.url, tmp_path / "a").link("mi")
        assert linker(server.url, tmp_path / "b", model="two").link("mi").judged == "two chose candidate 1"
        assert server.asked[0]["model"] == "two"


def test_settings_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "judge.toml"
    file.write_text(
        '[judge]\nurl = "http://localhost:8080/v1"\nbelow = 0.8\nfile = "asked.jsonl"\n', encoding="utf-8"
    )
    settings = JudgeSettings.of(str(file))
    assert settings.endpoint == "http://localhost:8080/v1/chat/completions"
    assert (settings.below, settings.log) == (0.8, tmp_path / "asked.jsonl")
    full = "https://example.org/api/chat/completions"
    assert JudgeSettings.of(full).endpoint == full
    for text, wrong in (
        ('[judge]\nurl = "http://localhost"\nmodell = "x"', "unknown settings: modell \\(line 3\\)"),
        ('[judge]\nurl = "http://me:pw@localhost"', "has no password"),
        ('[judge]\nurl = "localhost:80"', "begins with http"),
        ('[judge]\nurl = "http://localhost"\nbelow = 3', "below must be"),
        ('url = "http://localhost"', "no table \\[judge\\]"),
    ):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=wrong):
            JudgeSettings.of(str(file))


def test_an_index_without_confidences_is_refused(tmp_path: Path) -> None:
    judge = Judge(JudgeSettings(url="http://127.0.0.1:9", file=str(tmp_path / "a")))
    with pytest.raises(InputError, match="nymlink calibrate"):
        Linker(built_index(), judge=judge)
    with pytest.raises(InputError, match="another process"):
        pickle.dumps(judge)


@pytest.mark.parametrize(
    ("said", "place"),
    [('{"answer": 3}', 3), ("3", 3), ("**0**", 0), ("4", None), ("", None), ("candidate 2 of 3", None)],
)
def test_answers_are_read(said: str, place: int | None) -> None:
    assert read_answer(said, 3) == place


def test_the_command_asks_a_judge(tmp_path: Path) -> None:
    index = tmp_path / "index"
    calibrated().save(index)
    file = tmp_path / "judge.toml"
    with ChatServer(lambda body: place_of(body, "mitral insufficiency")) as server:
        file.write_text(f'[judge]\nurl = "{server.url}"\nbelow = 1\nfile = "asked.jsonl"\n', encoding="utf-8")
        given = ["link", "--index", str(index), "--settings", str(file), "--format", "jsonl", "mi"]
        result = CliRunner().invoke(nymlink, given)
        assert result.exit_code == 0, result.output
        assert server.url in result.stderr
        link = json.loads(result.stdout)
        assert link["candidates"][0]["concept_id"] == "D:4"
        assert "small chose candidate" in link["notes"][-1]
    assert len(lines(tmp_path / "asked.jsonl")) == 1
    result = CliRunner().invoke(nymlink, ["link", "--settings", "judge=http://u:p@localhost", "mi"])
    assert result.exit_code != 0
    assert "NYMLINK_JUDGE_KEY" in str(result.exception) + result.output


def test_a_judge_is_asked_again_after_a_pause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reply: list[Any] = [400]
    with ChatServer(lambda _: reply[0]) as server:
        given = linker(server.url, tmp_path / "a")
        links = given.link([f"mi {number}" for number in range(20)])
        assert sum("in a row" in (link.judged or "") for link in links) >= 10
        reply[0] = "1"
        monkeypatch.setattr(judges.time, "monotonic", lambda now=time.monotonic: now() + judges._PAUSE)
        assert given.link("mi").judged == "small chose candidate 1"
