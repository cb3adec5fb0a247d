"""Corpora: documents with their mentions, and their readers."""

from nymlink.corpus.model import Corpus, Document, Mention
from nymlink.corpus.options import CorpusOptions
from nymlink.corpus.read import read_corpus, read_documents

__all__ = ["Corpus", "CorpusOptions", "Document", "Mention", "read_corpus", "read_documents"]
