"""Learn from what was decided: names, the order of candidates, confidences; the index stays as it is."""
