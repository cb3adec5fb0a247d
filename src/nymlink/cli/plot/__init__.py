"""`nymlink plot`: draw what encoders and re-rankers make of names and mentions, and results by language."""

from __future__ import annotations

from nymlink.cli.lazy import LazyCommands

plot = LazyCommands(
    "plot",
    help="Draw names, similarities, mentions and clusters before and after training, and results by language.",
    commands={
        "space": "nymlink.cli.plot.space:space",
        "similarities": "nymlink.cli.plot.similarities:similarities",
        "contexts": "nymlink.cli.plot.contexts:contexts",
        "clusters": "nymlink.cli.plot.clusters:clusters",
        "languages": "nymlink.cli.plot.languages:languages",
        "retrieval": "nymlink.cli.plot.retrieval:retrieval",
    },
)
