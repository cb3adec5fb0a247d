"""nymlink in a pipeline of spaCy: ``nlp.add_pipe("nymlink", config={"index": "mondo-index"})``.

spaCy finds the components of nymlink by their entry points (``spacy_factories``). Nothing needs to be imported.
"""
