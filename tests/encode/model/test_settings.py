from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nymlink.core.errors import InputError
from nymlink.encode.model.encoder_settings import EncoderSettings

OLD = "sentence_transformers.models."
NEW = "sentence_transformers.sentence_transformer.modules."


def model(folder: Path, **files: Any) -> Path:
    """A model folder of JSON files; ``__`` in a name stands for a slash."""
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(
        json.dumps({"vocab_size": 9, "max_position_embeddings": 512}), encoding="utf-8"
    )
    for name, value in files.items():
        path = folder / f"{name.replace('__', '/')}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(value), encoding="utf-8")
    return folder


def modules(*kinds: str, prefix: str = OLD) -> list[dict[str, Any]]:
    places = {"Transformer": "", "Pooling": "1_Pooling", "Normalize": "2_Normalize"}
    return [{"type": prefix + kind, "path": places.get(kind, kind)} for kind in kinds]


def test_a_base_model_is_used_as_sapbert_uses_one(tmp_path: Path) -> None:
    assert EncoderSettings.read(model(tmp_path)) == EncoderSettings(pooling="cls", max_length=25, lowercase=False)


def test_the_old_layout_of_sentence_transformers(tmp_path: Path) -> None:
    folder = model(
        tmp_path,
        modules=modules("Transformer", "Pooling", "Normalize"),
        sentence_bert_config={"max_seq_length": 128, "do_lower_case": True},
    )
    pooling = {"word_embedding_dimension": 8, "pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}
    model(tmp_path, **{"1_Pooling__config": pooling})
    assert EncoderSettings.read(folder) == EncoderSettings(pooling="mean", max_length=128, lowercase=True)


def test_the_new_layout_of_sentence_transformers(tmp_path: Path) -> None:
    folder = model(
        tmp_path,
        modules=modules("Transformer", "Pooling", prefix=NEW),
        sentence_bert_config={"transformer_task": "feature-extraction"},
        tokenizer_config={"model_max_length": 64},
    )
    model(tmp_path, **{"1_Pooling__config": {"embedding_dimension": 8, "pooling_mode": "cls"}})
    assert EncoderSettings.read(folder) == EncoderSettings(pooling="cls", max_length=64)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    for settings in (EncoderSettings(), EncoderSettings(pooling="mean", max_length=40, lowercase=True)):
        settings.write(model(tmp_path), width=8)
        assert EncoderSettings.read(tmp_path) == settings


def test_the_caller_overrides_the_folder(tmp_path: Path) -> None:
    EncoderSettings(pooling="mean", max_length=40).write(model(tmp_path), width=8)
    assert EncoderSettings.read(tmp_path, pooling="cls", max_length=7) == EncoderSettings(max_length=7)


def test_a_length_is_never_more_than_the_model_takes(tmp_path: Path) -> None:
    model(
        tmp_path,
        config={"vocab_size": 9, "max_position_embeddings": 34, "pad_token_id": 1, "model_type": "roberta"},
    )
    EncoderSettings(max_length=500).write(tmp_path, width=8)
    # RoBERTa numbers its positions from 2 on.
    assert EncoderSettings.read(tmp_path).max_length == 32
    with pytest.raises(InputError, match="max_length 33 is more than the model takes: use at most 32"):
        EncoderSettings.read(tmp_path, max_length=33)


def test_what_makes_no_encoder_is_refused(tmp_path: Path) -> None:
    for number, (files, message) in enumerate(
        [
            (
                {"modules": modules("Transformer", "Pooling", "Dense")},
                "has the modules Transformer and Pooling alone",
            ),
            ({"modules": modules("Transformer")}, "has the modules Transformer and Pooling alone"),
            ({"modules": {"type": "Transformer"}}, "holds no JSON list"),
            ({"modules": modules("Transformer", "Pooling")}, "incomplete"),
            (
                {
                    "modules": modules("Transformer", "Pooling"),
                    "1_Pooling__config": {"pooling_mode_max_tokens": True, "pooling_mode_mean_tokens": True},
                },
                r"pooling mean\+max is not supported",
            ),
            (
                {"modules": modules("Transformer", "Pooling"), "1_Pooling__config": {"pooling_mode": "lasttoken"}},
                "pooling lasttoken is not supported",
            ),
            ({"config": {"hidden_size": 3}}, "not the configuration of an encoder"),
        ]
    ):
        with pytest.raises(InputError, match=message):
            EncoderSettings.read(model(tmp_path / str(number), **files))


def test_a_transformer_in_a_folder_of_its_own_is_refused(tmp_path: Path) -> None:
    places = [
        {"type": OLD + "Transformer", "path": "0_Transformer"},
        {"type": OLD + "Pooling", "path": "1_Pooling"},
    ]
    with pytest.raises(InputError, match="0_Transformer"):
        EncoderSettings.read(model(tmp_path, modules=places))


def test_damaged_files_are_named(tmp_path: Path) -> None:
    (model(tmp_path) / "modules.json").write_text("[{", encoding="utf-8")
    with pytest.raises(InputError, match=r"modules\.json: cannot be read"):
        EncoderSettings.read(tmp_path)
    (tmp_path / "modules.json").unlink()
    (tmp_path / "config.json").unlink()
    with pytest.raises(InputError, match=r"config\.json: no such file"):
        EncoderSettings.read(tmp_path)


def test_nonsense_is_refused() -> None:
    with pytest.raises(InputError, match="unknown pooling 'max'; known: cls, mean"):
        EncoderSettings(pooling="max")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="max_length must be at least 3, not 2"):
        EncoderSettings(max_length=2)
