"""`nymlink project`: keep the review of tables in a file."""

from __future__ import annotations

from nymlink.cli.lazy import LazyCommands

project = LazyCommands(
    "project",
    help="""Review tables: keep what is decided of their terms in a project file.

    On the page of `nymlink serve` a project is made, reviewed and exported with the mouse or a few keys; these
    commands do what needs no eyes.
    """,
    commands={
        "new": "nymlink.cli.project.new:new",
        "add": "nymlink.cli.project.add:add",
        "link": "nymlink.cli.project.link:link",
        "status": "nymlink.cli.project.status:status",
        "accept": "nymlink.cli.project.accept:accept",
        "learn": "nymlink.cli.project.learn:learn",
        "import": "nymlink.cli.project.import_decisions:import_",
        "export": "nymlink.cli.project.export:export",
        "rebase": "nymlink.cli.project.rebase:rebase",
    },
)
