"""Settings from TOML and back, and what is said of wrong ones."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.core.errors import InputError
from nymlink.core.toml_settings import (
    differences,
    make_settings,
    read_toml,
    settings_of,
    to_json,
    to_toml,
    weight_settings,
)
from nymlink.train.settings.common import HeldOutCorpus
from nymlink.train.settings.encoder_trainings import BioSynSettings, FinetuneSettings, SapSettings

NEEDED = {"vocab": "v", "base": "b", "output": "o"}
TEXT = st.text(st.characters(blacklist_categories=["Cs"]))


@pytest.mark.parametrize("cls", [SapSettings, FinetuneSettings, BioSynSettings])
def test_every_setting_says_what_it_means(cls: type[Any]) -> None:
    assert all(one.help and one.help[0].islower() and not one.help.endswith(".") for one in settings_of(cls))


def test_what_a_recipe_adds_comes_first() -> None:
    order = [one.name for one in settings_of(SapSettings)]
    assert order.index("vocab") < order.index("base") < order.index("output")


def test_defaults_are_the_published_settings() -> None:
    settings = SapSettings(**NEEDED)
    published = {"learning_rate": 2e-5, "weight_decay": 0.01, "batch_pairs": 256, "epochs": 1, "max_length": 25}
    assert {name: getattr(settings, name) for name in published} == published
    assert (settings.loss, settings.mining, settings.margin) == ("multi-similarity", True, 0.2)
    tuned = FinetuneSettings(**NEEDED, corpora=("c",))
    assert (tuned.epochs, tuned.batch_pairs, tuned.learning_rate) == (3, 128, 2e-5)


@given(
    TEXT,
    TEXT,
    st.floats(1e-9, 1e9),
    st.lists(TEXT),
    st.dictionaries(TEXT, st.one_of(st.integers(-(2**60), 2**60), st.booleans(), TEXT, st.floats(-1e9, 1e9))),
    st.dictionaries(TEXT, st.builds(HeldOutCorpus, corpus=TEXT, dictionary=TEXT)),
)
def test_a_file_that_was_written_gives_the_same_settings(
    output: str,
    base: str,
    rate: float,
    languages: list[str],
    loss_settings: dict[str, Any],
    evaluation: dict[str, HeldOutCorpus],
) -> None:
    settings = SapSettings(
        vocab="v",
        base=base,
        output=output,
        learning_rate=rate,
        languages=tuple(languages),
        loss_settings=loss_settings,
        evaluation=evaluation,
        mining=False,
        max_steps=3,
    )
    assert make_settings(SapSettings, tomllib.loads(to_toml(to_json(settings)))) == settings
    assert make_settings(SapSettings, to_json(settings)) == settings


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "batchpairs = 3\n[oh]\nno = 1\n",
            "unknown settings: batchpairs (line 3), oh (line 4); there are: vocab, ",
        ),
        ("[evaluation.dev]\ncorpus = 'c'\ndict = 'd'\n", "unknown settings: dict (line 5); there are: corpus, "),
        ("[evaluation.dev]\ncorpus = 'c'\n", "missing settings: dictionary"),
        ("batch_pairs = 'many'\n", ":3: batch_pairs must be a whole number, not 'many'"),
        ("batch_pairs = true\n", ":3: batch_pairs must be a whole number, not True"),
        ("'tuning' = 'lore'\n", ":3: tuning must be one of full, adapters, lora, not 'lore'"),
        ("\nlanguages = 'en'\n", ":4: languages must be a list of texts, not 'en'"),
        ("evaluation = 3\n", ":3: evaluation must be a table, not 3"),
        ("learning_rate = 1e\n", "not a TOML file: "),
    ],
)
def test_wrong_settings_are_named_with_their_lines(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "c.toml"
    path.write_text(f"base = 'b'\noutput = 'o'\n{text}", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        make_settings(SapSettings, read_toml(path), path=path)
    assert said in str(caught.value)


def test_missing_settings_are_named() -> None:
    with pytest.raises(InputError, match="missing settings: base, output"):
        make_settings(SapSettings, {"vocab": "v"})


def test_a_number_out_of_its_range_is_refused() -> None:
    for name, value in {
        "batch_pairs": 1,
        "learning_rate": 0.0,
        "warm_up": 1.0,
        "best": "x",
        "cap": 0,
        "kinds": ["odd"],
    }.items():
        with pytest.raises(InputError, match=f"{name} must be"):
            make_settings(SapSettings, {**NEEDED, name: value})
    with pytest.raises(InputError, match="either vocab or pairs"):
        make_settings(SapSettings, {**NEEDED, "pairs": "p"})


def test_a_whole_number_serves_where_a_number_is_wanted() -> None:
    assert make_settings(SapSettings, {**NEEDED, "margin": 1}).margin == 1.0


def test_only_differences_that_matter_are_told() -> None:
    before = SapSettings(**NEEDED)
    after = replace(before, checkpoint_minutes=1.0, output="p", margin=0.1)
    told = differences(*(weight_settings(SapSettings, to_json(one)) for one in (before, after)))
    assert told == ["margin: 0.2 → 0.1"]
