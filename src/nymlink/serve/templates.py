"""Pages: templates that escape all values, and static files."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse

_FOLDER: Final = Path(__file__).parent / "pages"
STATIC: Final = _FOLDER / "static"

_TEMPLATES: Final = Environment(
    loader=FileSystemLoader(_FOLDER / "html"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def page(template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """Fill a template."""
    return HTMLResponse(_TEMPLATES.get_template(template).render(values), status)
