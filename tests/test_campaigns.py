"""The campaigns of benchmarks run, on a few trials, where no figure means anything."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

import pytest

from nymlink.core.errors import InputError, NymlinkError
from nymlink.core.problems import Problems


@pytest.mark.usefixtures("data")
@pytest.mark.filterwarnings("ignore")
def test_every_reader_has_seeds_and_survives_a_few_mutated_inputs(tmp_path: Path) -> None:
    from benchmarks.campaigns.mutated import FAILURES, make_input, outcome, write_input
    from benchmarks.campaigns.readers import readers
    from benchmarks.campaigns.seeds import seeds

    read, samples = readers(), seeds()
    assert read.keys() == samples.keys()
    for at, name in enumerate(read):
        for number in range(3):
            folder = tmp_path / f"{at}-{number}" / "input"
            folder.mkdir(parents=True)
            made = make_input(name, number, samples[name])
            assert made == make_input(name, number, samples[name])
            became, said = outcome(read[name], write_input(made, folder))
            assert became not in FAILURES, (name, number, said)


def test_what_becomes_of_an_input_is_told_apart(tmp_path: Path) -> None:
    from benchmarks.campaigns.mutated import outcome

    def reader(error: BaseException | None, *, problem: bool = False):  # type: ignore[no-untyped-def]
        def read(path: Path, problems: Problems) -> None:
            if problem:
                problems.reject(path, 1, "bad")
            if error is not None:
                raise error

        return read

    path = tmp_path / "a.txt"
    assert outcome(reader(None), path)[0] == "read"
    assert outcome(reader(None, problem=True), path)[0] == "partly"
    assert outcome(reader(InputError("bad", path=path)), path)[0] == "rejected"
    assert outcome(reader(InputError("bad")), path)[0] == "unnamed"
    assert outcome(reader(KeyError("x")), path)[0] == "traceback"
    assert outcome(reader(MemoryError()), path)[0] == "memory"


@pytest.mark.parametrize(
    ("pattern", "grows"),
    [(r"(a+)+b", True), (r"\s+$", True), (r"(?<!\s)\s++$", False), (r"a+b", False)],
)
def test_expressions_whose_time_grows_are_told_apart(pattern: str, grows: bool) -> None:
    from benchmarks.campaigns.hostile.expressions import EXPONENT, Expression, worst

    methods = frozenset({"search"} if pattern.endswith("$") else {"match"})
    assert (worst(Expression("a:1", re.compile(pattern), methods)).exponent > EXPONENT) is grows


@pytest.mark.large
def test_all_expressions_of_the_package_are_listed() -> None:
    from benchmarks.campaigns.hostile.expressions import expressions

    assert expressions()[1] == []


def test_uses_whose_time_grows_are_told_apart() -> None:
    from benchmarks.campaigns.hostile.lengths import PATTERNS, growth

    def quadratic(text: str, _: Path) -> None:
        for _ in text[::2]:
            for _ in text:
                pass

    assert growth(quadratic, PATTERNS["one word"], 1 << 13)[0] > 1.3
    assert growth(lambda text, _: text.upper(), PATTERNS["one word"], 1 << 16)[0] == 0.0


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["1e400000", "100,000 digits", "100,000 levels"])
def test_numbers_and_depth_of_json_are_bad_input(tmp_path: Path, name: str) -> None:
    from benchmarks.campaigns.hostile.bombs import attempts

    chosen = [each for each in attempts() if each.name.startswith(f"{name} in ") and each.kind.startswith("JSON")]
    assert len(chosen) == 25
    for number, each in enumerate(chosen):
        folder = tmp_path / str(number)
        folder.mkdir()
        with contextlib.suppress(NymlinkError):
            each.act(folder)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["lengths of time", "times out of range", "dates out of range"])
def test_times_that_python_has_no_objects_for_are_read(tmp_path: Path, name: str) -> None:
    from benchmarks.campaigns.hostile.bombs import attempts

    chosen = [each for each in attempts() if each.name.startswith(name) and each.kind.startswith("Parquet")]
    assert len(chosen) == 5
    for number, each in enumerate(chosen):
        folder = tmp_path / str(number)
        folder.mkdir()
        with contextlib.suppress(NymlinkError):
            each.act(folder)
