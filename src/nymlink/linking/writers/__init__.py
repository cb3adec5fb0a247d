"""Writers of links, one for each format.

A format is a :class:`~nymlink.linking.writers.writer.LinkFormat` under an entry point in the group
``nymlink.link_writers``. `nymlink link --format` and :meth:`nymlink.linking.links.Links.write` take its name.
"""

from __future__ import annotations

from typing import Final

from nymlink.core.registry import Registry
from nymlink.linking.writers.writer import LinkFormat

LINK_FORMATS: Final[Registry[LinkFormat]] = Registry("nymlink.link_writers", noun="format of links")
