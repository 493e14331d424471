"""Importing matplotlib without the documentation that it writes for itself."""

from __future__ import annotations

import matplotlib.artist


def leave_undocumented() -> None:
    """Let classes of matplotlib that are imported from here on go without the list of their properties.

    For each class of artists matplotlib composes docstring and signature of `set` from the docstrings of all
    setters.  Nothing that draws reads them, and they are a quarter of what importing it takes.
    """
    matplotlib.artist.kwdoc = lambda artist: ""
    setup = classmethod(lambda cls: None)
    matplotlib.artist.Artist._update_set_signature_and_docstring = setup  # type: ignore[attr-defined]
