"""What a server asks of other machines: every name it looks up, every address it connects to.

A server that was started with `noted` listens at the loopback address wherever it is told to listen.
"""

from pathlib import Path

_PROXIES = ("http_proxy", "https_proxy", "all_proxy")  # behind one nothing else would be asked


def noted(folder: Path) -> dict[str, str]:
    """The environment in which all processes of a server note what they ask, in that folder."""
    proxies = {each: "" for name in _PROXIES for each in (name, name.upper())}
    return {**proxies, "PYTHONPATH": str(Path(__file__).parent), "OUTSIDE": str(folder / "outside")}


def asked(folder: Path) -> list[str]:
    """What was asked since then."""
    file = folder / "outside"
    return file.read_text("utf-8").splitlines() if file.exists() else []
