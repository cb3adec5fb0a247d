from __future__ import annotations

import json
from pathlib import Path

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from tokenizers.normalizers import Lowercase, Replace, Sequence

from nymlink.core.errors import InputError
from nymlink.encode.model.encoder_settings import EncoderSettings
from nymlink.encode.model.token_batches import tokenise
from nymlink.encode.model.tokenizer import load_tokenizer, save_tokenizer, special_tokens, uninformative_tokens
from tests.encode import tiny


def folder(path: Path, *, words: int = 120) -> Path:
    (path / "config.json").write_text(
        json.dumps({"vocab_size": words, "pad_token_id": 0, "model_type": "bert"}), encoding="utf-8"
    )
    tiny.tokenizer().save(str(path / "tokenizer.json"))
    return path


def test_it_cuts_and_does_not_fill(tmp_path: Path) -> None:
    made = tiny.tokenizer()
    made.enable_padding(length=50)
    made.enable_truncation(4)
    folder(tmp_path)
    made.save(str(tmp_path / "tokenizer.json"))
    loaded = load_tokenizer(tmp_path, EncoderSettings(max_length=6))
    assert [len(each.ids) for each in loaded.encode_batch(["x", "x " * 20])] == [3, 6]


def test_lower_case_is_made_where_the_settings_ask_for_it(tmp_path: Path) -> None:
    made = tiny.tokenizer()
    made.normalizer = Sequence([])
    folder(tmp_path)
    made.save(str(tmp_path / "tokenizer.json"))
    as_it_is, lower = (load_tokenizer(tmp_path, EncoderSettings(lowercase=on)) for on in (False, True))
    assert as_it_is.encode("SEIZURE").ids != as_it_is.encode("seizure").ids
    assert lower.encode("SEIZURE").ids == as_it_is.encode("seizure").ids


def test_transformers_reads_what_is_written_the_same_way(tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    made = tiny.tokenizer()
    # What transformers' own class for BERT would drop.
    made.normalizer = Sequence([Lowercase(), Replace("x", "seizure")])
    save_tokenizer(made, folder(tmp_path), max_length=6, special={"pad_token": "[PAD]", "cls_token": "[CLS]"})
    theirs = AutoTokenizer.from_pretrained(tmp_path)
    ours = load_tokenizer(tmp_path, EncoderSettings(max_length=6))
    for name in (*tiny.NAMES, "X x", "x " * 20):
        assert theirs(name, truncation=True).input_ids == ours.encode(name).ids
    assert (theirs.pad_token, theirs.cls_token, theirs.model_max_length) == ("[PAD]", "[CLS]", 6)


def test_special_tokens_are_found_in_old_and_new_files(tmp_path: Path) -> None:
    found = special_tokens(folder(tmp_path), tiny.tokenizer())
    assert found == {"pad_token": "[PAD]"}
    (tmp_path / "special_tokens_map.json").write_text(
        '{"cls_token": "[OLD]", "sep_token": {"content": "[SEP]"}}', encoding="utf-8"
    )
    (tmp_path / "tokenizer_config.json").write_text(
        '{"cls_token": "[CLS]", "do_lower_case": true}', encoding="utf-8"
    )
    assert special_tokens(tmp_path, tiny.tokenizer()) == {
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
        "pad_token": "[PAD]",
    }


def test_what_says_nothing_is_around_names_or_stands_for_the_unknown() -> None:
    assert uninformative_tokens(tiny.tokenizer()) == {1, 2, 3}
    words = ("<s>", "</s>", "<unk>", "\u2581", "\u2581fits")
    pieces = Tokenizer(models.Unigram([(word, -1.0) for word in words], 2, False))
    pieces.pre_tokenizer = pre_tokenizers.Metaspace()
    pieces.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)]
    )
    assert uninformative_tokens(pieces) == {0, 1, 2, 3}
    assert pieces.encode("🫀").ids == [0, 3, 2, 1]
    assert pieces.encode("fits 🫀").ids == [0, 4, 3, 2, 1]


def test_where_all_bytes_are_known_nothing_is_unknown() -> None:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    by_byte = Tokenizer(models.BPE({one: number for number, one in enumerate(alphabet)}, []))
    by_byte.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    fallback = Tokenizer(
        models.Unigram([("<unk>", 0.0), *((f"<0x{byte:02X}>", -1.0) for byte in range(256))], 0, True)
    )
    for tokenizer in (by_byte, fallback):
        uninformative = uninformative_tokens(tokenizer)
        assert len(tokenise(tokenizer, ["🫀", "心"]).informative(uninformative)) == 2


def test_a_word_list_will_do(tmp_path: Path) -> None:
    folder(tmp_path)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "heart", "attack"]
    (tmp_path / "tokenizer.json").unlink()
    (tmp_path / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    assert load_tokenizer(tmp_path, EncoderSettings()).encode("Heart attack").ids == [2, 5, 6, 3]


def test_what_is_missing_or_damaged_or_of_another_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"do not belong together: the tokenizer has .* tokens, the model 20"):
        load_tokenizer(folder(tmp_path, words=20), EncoderSettings())
    (tmp_path / "tokenizer.json").write_text('{"model": ', encoding="utf-8")
    with pytest.raises(InputError, match=r"tokenizer\.json: cannot be read"):
        load_tokenizer(tmp_path, EncoderSettings())
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(InputError, match="has no tokenizer"):
        load_tokenizer(tmp_path, EncoderSettings())
