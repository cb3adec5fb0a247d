"""Read a corpus in any known format."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from nymlink.core.problems import Problems
from nymlink.core.registry import find_format
from nymlink.corpus.documents import Corpus, Document
from nymlink.corpus.readers import CORPUS_FORMATS
from nymlink.corpus.readers.common import CorpusOptions, source_name
from nymlink.tables.foreign_formats import describe_format


def read_documents(
    path: str | Path,
    *,
    format: str | None = None,
    options: CorpusOptions | None = None,
    problems: Problems | None = None,
) -> Iterator[Document]:
    """Read the documents of a corpus one by one, without holding all of them in memory.

    Args:
        path: a plain or gzip file, or a folder.
        format: name of the format. With ``None``, the content decides; if ``options`` name columns, the file is
            read as a table.
        options: options for the reader.
        problems: receives the faults of the input.

    Raises:
        InputError: the source is missing, empty, truncated, of no known format, or nothing in it can be used.
            Damage in the middle of a file raises when reading reaches it.
        UnknownNameError: no format has this name.
    """
    path = Path(path)
    options = CorpusOptions() if options is None else options
    if format is None and options.columns:
        tables = (name for name, each in CORPUS_FORMATS if each.is_binary and each.recognises(path, ""))
        format = next(tables, "table")
    reader = find_format(CORPUS_FORMATS, path, format, describe=lambda _, head: describe_format(head))
    return reader.read(path, options=options, problems=Problems() if problems is None else problems)


def read_corpus(
    path: str | Path,
    *,
    format: str | None = None,
    options: CorpusOptions | None = None,
    problems: Problems | None = None,
) -> Corpus:
    """Read a whole corpus. Arguments and errors are those of :func:`read_documents`.

    Returns:
        The corpus, with the name of its file (without endings) or folder.

    Example:
        >>> from nymlink import read_corpus
        >>> corpus = read_corpus("dev.PubTator.txt")
        >>> corpus.documents[0].mentions[0].text
        'type I diabetes'
    """
    documents = tuple(read_documents(path, format=format, options=options, problems=problems))
    return Corpus(source_name(Path(path)), documents)
