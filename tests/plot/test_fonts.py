from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from nymlink.plot import figure as fonts
from nymlink.plot.figure import font_families, new_figure, readable, save_figure, shortened

NAMES = "Seizure επιληψία инсулин インスリン 癫痫发作 당뇨병 ไข้ मधुमेह ارتفاع סוכרת".split()


def test_what_a_font_has_stays_as_it_is() -> None:
    assert font_families()[0] == "DejaVu Sans"
    assert [readable(name) for name in NAMES[:3]] == list(NAMES[:3])


def test_what_no_font_has_is_romanised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fonts, "_is_drawn", str.isascii)
    assert readable("インスリン") == "insurin"
    assert shortened("癫痫发作", 6) == "dianx…"
    assert readable("\ue000") == ""


def test_arabic_is_romanised_where_its_letters_would_not_join(monkeypatch: pytest.MonkeyPatch) -> None:
    fonts._is_drawn.cache_clear()
    monkeypatch.setattr(fonts, "_shapes", lambda: False)
    assert all(readable(name).isascii() for name in NAMES[-2:])
    fonts._is_drawn.cache_clear()


def test_no_letter_is_drawn_as_a_box(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        # Of a letter that it draws as a box, matplotlib warns.
        warnings.simplefilter("error")
        for weight in ("normal", "bold"):
            with new_figure(8, 2) as figure:
                figure.text(0, 0.5, " ".join(map(readable, NAMES)), fontweight=weight)
            save_figure(figure, tmp_path / f"{weight}.png")
