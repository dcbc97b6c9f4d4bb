"""The front page's figure that a new server shows is the one that it then computes.

`python -m scripts.write_first_picture` writes it anew where the figure has changed.
"""

import base64
import re

import numpy as np
import pytest

from pages.parts.explore import scene, views
from pages.shared.server import first_picture
from pages.shared.state import run

PACKED = re.compile(
    r"[A-Za-z0-9+/]{16,}={0,2}"
)  # whole numbers of 16 bits, as the browser unpacks them


def parts(sent, path=()):
    """Everything that is sent, each by its path."""
    items = sent.items() if isinstance(sent, dict) else enumerate(sent)
    for key, value in items:
        if isinstance(value, dict | list | tuple):
            yield from parts(value, (*path, key))
        else:
            yield (*path, key), value


def is_the_same(stored, computed):
    """Whether two values are equal, but for how processors round."""
    if stored == computed:
        return True
    if not isinstance(stored, str):
        return stored == pytest.approx(computed, rel=1e-6)
    if not (PACKED.fullmatch(stored) and PACKED.fullmatch(computed)):
        return False
    steps = [
        np.frombuffer(base64.b64decode(packed), "<i2").astype(int) for packed in (stored, computed)
    ]
    return len(steps[0]) == len(steps[1]) and np.abs(steps[0] - steps[1]).max() <= 1


@pytest.fixture
def computed_here():
    """From as many data sets as on a server; nothing of it is left to other tests."""
    run.forget()
    yield
    run.forget()


@pytest.mark.slow
@pytest.mark.usefixtures("computed_here")
def test_the_stored_views_of_the_front_page_are_the_computed_ones():
    stored, computed = (
        dict(parts(sent)) for sent in (first_picture.stored_views(), views.first_views())
    )
    differing = {
        path for path, value in computed.items() if not is_the_same(stored.get(path), value)
    }
    assert {path[-1] for path in differing} <= {"tag"}
    assert stored.keys() == computed.keys()


@pytest.mark.usefixtures("computed_here")
def test_the_stored_figure_of_the_front_page_is_the_computed_one():
    stored, computed = (
        dict(parts(sent)) for sent in (first_picture.stored(), scene.first_figure())
    )
    tag = ("curves", "tag")  # of numbers to the last bit
    assert {
        path
        for path, value in computed.items()
        if path != tag and not is_the_same(stored.get(path), value)
    } == set()
    assert stored.keys() == computed.keys()
