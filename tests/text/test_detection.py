"""The language of a single name."""

from __future__ import annotations

import pytest

from nymlink.core.errors import InputError
from nymlink.core.language_codes import language_of
from nymlink.text.detection import NAMES, _detector, detect_language, language_name
from nymlink.text.languages import recognise_language


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("Schwindel und Erbrechen", "de"),
        ("sydäninfarkti", "fi"),
        ("コロナ", "ja"),
        ("IgE抗体の上昇", "ja"),
        ("The coronavirus (コロナ) causes fever and cough in most patients", None),
        ("diabetes", None),
        ("IL6", None),
        ("12 34", None),
        ("", None),
    ],
)
def test_a_language_is_named_only_if_it_is_sure(name, language):
    assert detect_language(name) == language


def test_every_detected_language_has_a_name():
    assert set(_detector().languages) <= set(NAMES)
    assert language_name("de") == "German"
    assert language_name("pt-BR") == "Portuguese (pt-BR)"
    assert language_name("xx") == "xx"


def test_auto_detects_the_language_of_each_text():
    assert language_of("auto") == "auto"
    assert recognise_language("schwindel und erbrechen", "auto") == "de"
    assert recognise_language("schwindel und erbrechen") is None
    assert recognise_language("diabetes", "auto") in (None, "en")
    with pytest.raises(InputError, match="auto to detect it"):
        language_of("automatic")
