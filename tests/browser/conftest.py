"""One browser for all tests of a worker; a message on its console fails the test."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Yield the driver of a browser."""
    browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
    driver = shutil.which("chromedriver")
    if browser is None or driver is None:
        pytest.skip("chromium and its driver are not installed")
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for argument in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage"):
        options.add_argument(f"--{argument}")
    # Nothing may be loaded: every name of a host leads nowhere.
    options.add_argument("--host-resolver-rules=MAP * ~NOTFOUND")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    # Libraries that are loaded into Python for sanitizers are not for the browser.
    env = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    service = webdriver.ChromeService(executable_path=driver, env=env)
    started = webdriver.Chrome(options=options, service=service)
    yield started
    started.quit()


class Page:
    """A page in the browser, and what tests ask of it."""

    def __init__(self, driver: Any, folder: Path) -> None:
        self.driver = driver
        self._folder = folder

    def open(self, html: str, *, width: int = 1400, height: int = 900, dark: bool = False) -> Page:
        """Open a document at a width of the window."""
        path = self._folder / "page.html"
        path.write_text(html, encoding="utf-8")
        self.resize(width, height)
        self.scheme("dark" if dark else "light")
        self.driver.get(path.as_uri())
        return self

    def resize(self, width: int, height: int = 900) -> None:
        """Change the size of the window."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def scheme(self, name: str, media: str = "") -> None:
        """Prefer light or dark colours; `media` "print" shows the page as on paper."""
        features = [{"name": "prefers-color-scheme", "value": name}]
        self.driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"media": media, "features": features}
        )

    def settle(self) -> None:
        """Wait until the page has been laid out for a new size."""
        self.driver.execute_async_script(
            "requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(arguments[0])))"
        )

    def ask(self, script: str, *arguments: Any) -> Any:
        """Return the value of an expression."""
        return self.driver.execute_script(f"return {script}", *arguments)

    def all(self, selector: str) -> list[Any]:
        """Return the elements that are shown."""
        return [e for e in self.driver.find_elements("css selector", selector) if e.is_displayed()]

    def one(self, selector: str) -> Any:
        """Return the first element."""
        return self.driver.find_element("css selector", selector)

    def text(self, selector: str) -> str:
        """Return what the first element says."""
        return str(self.one(selector).text)

    def node(self, number: int) -> Any:
        """Return a node of the tree."""
        return self.one(f'[role="treeitem"][data-node="{number}"]')

    def press(self, *keys: str) -> None:
        """Press keys, wherever the focus is."""
        from selenium.webdriver.common.action_chains import ActionChains
        from selenium.webdriver.common.keys import Keys

        chain = ActionChains(self.driver)
        for key in keys:
            chain.send_keys(getattr(Keys, key, key))
        chain.perform()

    def focused(self) -> int:
        """Return the node that has the focus."""
        return int(self.ask("document.activeElement.dataset.node"))

    def shown_nodes(self) -> list[int]:
        """Return the nodes that are not folded away, in the order of the page."""
        return [int(e.get_attribute("data-node")) for e in self.all('[role="treeitem"]')]

    def overflow(self) -> list[Any]:
        """Return what sticks out: nodes beyond the window or hidden by their frame."""
        return list(
            self.ask(
                """(() => {
                const wide = document.documentElement.clientWidth;
                const frame = document.querySelector(".view").getBoundingClientRect();
                const bad = [...document.querySelectorAll('[role="treeitem"]')]
                  .filter((item) => !item.hidden)
                  .map((item) => item.querySelector(".box").getBoundingClientRect())
                  .filter((box) => box.left < frame.left - 1 || box.right > frame.right + 1
                    || box.top < frame.top - 1 || box.bottom > frame.bottom + 1 || box.width < 20)
                  .map((box) => [box.left, box.right, box.top, box.bottom, frame.bottom]);
                if (document.documentElement.scrollWidth > wide) bad.push("page");
                return bad;
                })()"""
            )
        )


@pytest.fixture
def page(chromium: Any, tmp_path: Path) -> Iterator[Page]:
    """Yield a page; messages on the console fail the test."""
    chromium.get_log("browser")
    yield Page(chromium, tmp_path)
    messages = [entry["message"] for entry in chromium.get_log("browser")]
    chromium.get("about:blank")
    assert not messages, "\n".join(messages)
