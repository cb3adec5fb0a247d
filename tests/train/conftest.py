"""Fixtures that several tests of training share."""

from tests.train.runs import interrupt_next_step, one_thread, place

__all__ = ["interrupt_next_step", "one_thread", "place"]
