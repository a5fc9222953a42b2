"""Check the HTML that Sphinx made: links lead somewhere, and pages load nothing from the network.

    python tools/check_pages.py docs/_build/html

Links to other sites are not followed. Run by ``make docs``.
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser loads by itself, as opposed to what a reader clicks.
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}


class Page(HTMLParser):
    """The links of a page, what it loads, and the places in it that links can name."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.places |= {values[name] for name in ("id", "name") if name in values}
        if tag in LOADED and LOADED[tag] in values:
            self.loads.append(values[LOADED[tag]])
        elif "href" in values:
            self.links.append(values["href"])


def is_elsewhere(link: str) -> bool:
    """Return whether a link leads to another site."""
    return bool(urlsplit(link).netloc) or urlsplit(link).scheme in {"mailto", "data", "javascript"}


def problems_of(page: Path, pages: dict[Path, Page]) -> list[str]:
    """Return what is wrong with one page."""
    found = [
        f"loads {link}" for link in pages[page].loads if urlsplit(link).netloc and "://" in link
    ]
    for link in [*pages[page].links, *pages[page].loads]:
        if is_elsewhere(link):
            continue
        parts = urlsplit(link)
        target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
        if not target.is_file():
            found.append(f"links to {link}, which does not exist")
        elif (
            parts.fragment
            and target in pages
            and unquote(parts.fragment) not in pages[target].places
        ):
            found.append(f"links to {link}, a place that does not exist")
    return found


def check(folder: Path) -> list[str]:
    """Return what is wrong in a folder of pages, one line each."""
    folder = folder.resolve()
    files = sorted(path for path in folder.rglob("*.html") if "_static" not in path.parts)
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in files}
    found = [
        f"{page.relative_to(folder)} {problem}"
        for page in pages
        for problem in problems_of(page, pages)
    ]
    for style in sorted(folder.rglob("*.css")):
        for address in re.findall(r"url\([\"']?(https?:[^)\"']*)", style.read_text("utf-8")):
            found.append(f"{style.relative_to(folder)} loads {address}")
    return found


if __name__ == "__main__":
    wrong = check(Path(sys.argv[1]))
    print("\n".join(wrong) or "all links between the pages lead somewhere; nothing is loaded")
    sys.exit(bool(wrong))
