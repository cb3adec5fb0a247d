"""`nymlink bulk`: jobs over millions of rows, on all cores of a machine or of a cluster."""

from __future__ import annotations

from nymlink.cli.lazy import LazyCommands

bulk = LazyCommands(
    "bulk",
    help="""Link, annotate or encode millions of rows, on all cores of a machine or of a Ray cluster.

    INPUT is a file of Parquet, JSON lines, delimited text with a header (CSV, TSV) or PubTator, plain or gzipped,
    or a folder of such. It is cut into shards; workers do them, and write a part of Parquet for each. A
    row that cannot be used says why in the column "error". A job that lost a worker or a machine goes on, and one
    that was killed when the same command is given again: only what is not done is done, and the output is the same
    to the byte.

    \b
    On this machine, and on the cluster that it is of:
      nymlink bulk annotate abstracts.jsonl --index hpo-index -o annotated
      nymlink bulk annotate abstracts.jsonl --index hpo-index -o annotated --address auto

    The output is read as one table: pandas.read_parquet("annotated/parts").
    """,
    commands={
        "link": "nymlink.cli.bulk.link:link",
        "annotate": "nymlink.cli.bulk.annotate:annotate",
        "encode": "nymlink.cli.bulk.encode:encode",
    },
)
