"""nymlink in a pipeline of spaCy: ``nlp.add_pipe("nymlink", config={"index": "mondo-index"})``.

spaCy finds its components by their entry points (``spacy_factories``): nothing needs to be imported.
"""
