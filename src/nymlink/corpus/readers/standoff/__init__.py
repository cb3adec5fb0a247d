"""Readers of annotations that stand beside their text: BRAT, and CoNLL with offsets."""
