"""Corpora: documents with their mentions, and their readers."""

from nymlink.corpus.documents import Corpus, Document, Mention
from nymlink.corpus.read import read_corpus, read_documents
from nymlink.corpus.readers.common import CorpusOptions

__all__ = ["Corpus", "CorpusOptions", "Document", "Mention", "read_corpus", "read_documents"]
