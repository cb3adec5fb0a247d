"""Fixtures that several tests of training share."""

from tests.train.runs import interrupt_next_step, place

__all__ = ["interrupt_next_step", "place"]
