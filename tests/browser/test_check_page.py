"""The page by which a reader checks a release: right for what was published, WRONG for what was changed."""

import hashlib
import json

import pytest
from playwright.sync_api import expect

from engine.core.types import Budget
from engine.mechanisms import mechanisms
from engine.release import files as release_files
from engine.release import published
from engine.release.ledger import Ledger
from engine.sources import sources


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("release")
    release = published.publish(
        sources.build("sea_temperature", {}),
        mechanisms.build("adaptive_mean", {}),
        Budget(2.0, 1e-4),
        Ledger(folder / "ledger"),
        "sea",
        Budget(3.0, 1e-2),
    )
    return release_files.all_files(release)


def refitted(files):
    """The same with sizes and digests that fit again, as whoever changes a file can make them."""
    package = json.loads(files["datapackage.json"])
    for resource in package["resources"]:
        content = files[resource["path"]]
        resource["bytes"] = len(content)
        resource["hash"] = f"sha256:{hashlib.sha256(content).hexdigest()}"
    return files | {"datapackage.json": json.dumps(package).encode()}


@pytest.fixture(scope="module")
def checked(browser, files, tmp_path_factory):
    """What the page says of files, opened from disk."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "check.html").write_bytes(files["check.html"])
    page = browser.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"file://{folder}/check.html")
    assert len(asked) == 1
    expect(page.get_by_text("Files that fit together are not yet genuine:")).to_be_visible()

    def checked(changed):
        page.locator("#files").set_input_files(
            [
                {"name": name, "mimeType": "text/plain", "buffer": changed[name]}
                for name in ("guarantee.json", "release.csv", "datapackage.json")
            ]
        )
        expect(page.locator("#verdict")).not_to_be_empty()
        verdict = page.locator("#verdict").inner_text()
        page.locator("#files").set_input_files([])
        page.evaluate("() => { document.getElementById('verdict').textContent = ''; }")
        return verdict

    yield checked
    page.close()


def test_a_release_is_right(checked, files):
    assert checked(files) == "These files fit together."


def of_card(change):
    def changed(files):
        card = json.loads(files["guarantee.json"])
        change(card)
        return refitted(files | {"guarantee.json": json.dumps(card).encode()})

    return changed


def of_table(change):
    def changed(files):
        head, *rows = files["release.csv"].decode().splitlines()
        cells = [row.split(",") for row in rows]
        change(cells)
        return files | {"release.csv": "\n".join([head, *map(",".join, cells), ""]).encode()}

    return changed


def swap(cells):
    for row in cells:
        row[2], row[3] = row[3], row[2]


@pytest.mark.parametrize(
    "change",
    [
        of_card(lambda card: card["guarantee"].update(epsilon=0.5)),
        of_card(lambda card: card["guarantee"].update(delta=1e-7)),
        of_card(lambda card: card["odds"].update(right_guess_at_most=0.51)),
        of_card(lambda card: card["accounting"].update(rho=card["accounting"]["rho"] / 2)),
        of_card(lambda card: card["accounting"].update(rho=card["accounting"]["rho"] * 2)),
        of_card(lambda card: card.update(version=99)),
        of_table(lambda cells: cells[3].__setitem__(1, "21.5")),
        lambda files: refitted(of_table(swap)(files)),
        lambda files: refitted(of_table(lambda cells: cells[3].__setitem__(1, "99"))(files)),
    ],
    ids=[
        "ε",
        "δ",
        "odds",
        "half the cost",
        "twice the cost",
        "version",
        "a digit",
        "ends",
        "bounds",
    ],
)
def test_a_release_that_was_changed_is_wrong(checked, files, change):
    assert checked(change(files)).startswith("WRONG")
