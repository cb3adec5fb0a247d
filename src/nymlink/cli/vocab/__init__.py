"""`nymlink vocab`: get, build, merge, enrich, describe and search vocabularies."""

from __future__ import annotations

from nymlink.cli.lazy import LazyCommands

vocab = LazyCommands(
    "vocab",
    help="Get, build, merge, enrich, describe and search vocabularies.",
    commands={
        "build": "nymlink.cli.vocab.build:build",
        "enrich": "nymlink.cli.vocab.enrich:enrich",
        "get": "nymlink.cli.vocab.get:get",
        "info": "nymlink.cli.vocab.info:info",
        "merge": "nymlink.cli.vocab.merge:merge",
        "search": "nymlink.cli.vocab.search:search",
        "subset": "nymlink.cli.vocab.subset:subset",
    },
)
