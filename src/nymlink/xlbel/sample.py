"""A random sample of surface forms that does not depend on their order, in constant memory."""

from __future__ import annotations

from typing import NamedTuple

import xxhash


class _Kept(NamedTuple):
    """An example with the hashes that decide over its form and over itself; the smallest stay."""

    of_form: int
    of_example: int
    example: str


class FormSample:
    """Keeps the surface forms with the smallest hashes, and of each form the example with the smallest.

    Every form has the same chance however often it occurs. Offering an example again changes nothing.

    Args:
        size: how many forms are kept.
        seed: of the hashes.
    """

    def __init__(self, size: int, seed: int) -> None:
        self._size, self._seed = size, seed
        self._kept: dict[str, _Kept] = {}
        self._largest = 1 << 64

    def offer(self, form: str, example: str) -> None:
        """Offer an example of a form."""
        of_form = self._hash(form)
        if of_form > self._largest:
            return
        offered = _Kept(of_form, self._hash(example), example)
        self._kept[form] = min(offered, self._kept.get(form, offered))
        if len(self._kept) >= 2 * self._size:
            self._kept = dict(self.forms())
            self._largest = max(kept.of_form for kept in self._kept.values())

    def forms(self) -> list[tuple[str, _Kept]]:
        """List the forms of the sample with their examples, in the order of their hashes."""
        return sorted(self._kept.items(), key=lambda item: item[1])[: self._size]

    def examples(self) -> list[tuple[str, str]]:
        """List the forms of the sample, each with its example, in random order."""
        return [(form, kept.example) for form, kept in self.forms()]

    def _hash(self, text: str) -> int:
        return xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"), self._seed)
