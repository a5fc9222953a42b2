"""A report on a tree for a diagnosis: one HTML file to hand to a colleague.

    python examples/report.py                      # writes report.html
    python examples/report.py report.html --picture report.png

The tree tells benign from malignant tumours by 30 measurements of cells. The picture shows the page
in a browser after a click on a question; it needs chromium, its driver and selenium.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from certree import OptimalTreeClassifier, report


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("page", nargs="?", default="report.html", help="file to write")
    parser.add_argument("--picture", help="picture of the page to write")
    parser.add_argument("--depth", type=int, default=3, help="depth limit (default 3)")
    return parser.parse_args()


def photograph(page: Path, picture: str) -> None:
    """Open the page, ask about the first question, and keep what can be seen."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    for argument in ("headless=new", "no-sandbox", "hide-scrollbars", "window-size=1200,1500"):
        options.add_argument(f"--{argument}")
    service = webdriver.ChromeService(executable_path=shutil.which("chromedriver"))
    browser = webdriver.Chrome(options=options, service=service)
    try:
        size = {"width": 1200, "height": 1500, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.get(page.resolve().as_uri())
        browser.find_element("css selector", "#form button").click()
        browser.find_element("css selector", '[data-node="0"]').click()
        browser.execute_script("window.scrollTo(0, 0)")
        browser.save_screenshot(picture)
    finally:
        browser.quit()


def main() -> None:
    """Fit, write the page, and take its picture."""
    settings = arguments()
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    y = y.map({0: "malignant", 1: "benign"})
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
    model = OptimalTreeClassifier(max_depth=settings.depth)
    model.fit(X_train, y_train, path=True)
    page = report(model, X_train, y_train, X_test, y_test, title="Benign or malignant?")
    path = page.save(settings.page)
    print(model.certificate_.statement())
    print(f"wrote {path}, {path.stat().st_size / 1000:.0f} kB")
    if settings.picture:
        photograph(path, settings.picture)
        print(f"wrote {settings.picture}")


if __name__ == "__main__":
    main()
