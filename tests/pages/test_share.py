"""*Share as one file* on Learn and Decide."""

import pytest

from tests.pages.opening import visit


def dialog_of(at, key):
    at.button(key=f"share_{key}").click().run()
    (button,) = [
        each for each in at.get("download_button") if each.proto.id.endswith(f"share_file_{key}")
    ]
    return button.proto.label, [code.value for code in at.code]


@pytest.mark.parametrize(
    ("page", "link", "key"),
    [
        ("learn", "lesson-2", "learn"),
        ("decide", "c-sparse_curves~c.n_curves-150~target-1", "decide"),
    ],
)
def test_a_page_is_saved_as_one_file_or_framed(page, link, key):
    at = visit(page, link)
    label, codes = dialog_of(at, key)
    assert label.startswith("Save as one file (") and label.endswith(" kB)")
    assert any('sandbox="allow-scripts allow-downloads"' in code for code in codes)
