from __future__ import annotations

from contextlib import suppress

import pytest

# Without a browser, the modules of tests are skipped by the same import.
with suppress(pytest.skip.Exception):
    from tests.serve.browser.browsing import chromium, new_context, review, site

    __all__ = ["chromium", "new_context", "review", "site"]
