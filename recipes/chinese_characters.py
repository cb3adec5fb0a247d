"""Make the table of traditional Chinese characters and their simplified forms.

    pip install opencc && python recipes/chinese_characters.py

OpenCC's conversion (Apache-2.0) of each character by itself, a line each; what it leaves as it is has none.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

OUTPUT: Final = Path(__file__).parents[1] / "src/nymlink/text/data/simplified_characters.txt"
BLOCKS: Final = (range(0x3400, 0x4DC0), range(0x4E00, 0xA000), range(0xF900, 0xFB00), range(0x20000, 0x2A6E0))
"""Unified ideographs, extensions A and B, and compatibility ideographs."""


def main() -> None:
    """Write the table."""
    from opencc import OpenCC

    simplify = OpenCC("t2s").convert
    pairs = []
    for char in (chr(code) for block in BLOCKS for code in block):
        simplified = simplify(char)
        if simplified != char and len(simplified) == 1:
            pairs.append(char + simplified)
    OUTPUT.write_text("\n".join(pairs) + "\n", encoding="utf-8")
    print(f"{len(pairs):,} characters → {OUTPUT.name}")


if __name__ == "__main__":
    main()
