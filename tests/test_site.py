"""The documentation as a site: it builds, links lead somewhere, nothing is loaded from elsewhere, phones can read."""

import os
import re
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.helpers.notebooks import NOTEBOOKS
from tests.helpers.public_api import MISSING, iter_public_names

ROOT = Path(__file__).parents[1]
#: What a browser loads without being asked: tag → attribute.
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src"}
PHONE = 390


class Page(HTMLParser):
    """Links, ids and loaded files of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.ids, self.loaded = [], set(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if "id" in given:
            self.ids.add(given["id"])
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if tag == "a" and given.get("name"):
            self.ids.add(given["name"])
        if given.get(LOADED.get(tag, "")):
            self.loaded.append(given[LOADED[tag]])
        if tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload", "preconnect"):
            self.loaded.append(given["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    reason = "the site needs mkdocs-material and mkdocstrings: pip install 'anchorless[docs]'"
    for module in ("material", "mkdocs", "mkdocstrings"):
        pytest.importorskip(module, reason=reason)
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    ran = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site):
    return {path.resolve(): Page(path) for path in site.rglob("*.html") if path.name != "404.html"}


def test_every_source_is_a_page(site, pages):
    for source in (ROOT / "docs").rglob("*.md"):
        inside = source.relative_to(ROOT / "docs").with_suffix(".html")
        built = inside.with_name("index.html") if inside.stem == "README" else inside
        assert (site / built).resolve() in pages, source


def test_every_notebook_is_a_page(site, pages):
    for path in NOTEBOOKS:
        assert (site / "notebooks" / f"{path.stem}.html").resolve() in pages
        assert (site / "notebooks" / path.name).is_file()


def test_every_link_leads_somewhere(site, pages):
    for path, page in pages.items():
        for link in (*page.links, *page.loaded):
            parts = urlsplit(link)
            if parts.scheme in ("http", "https", "mailto", "data"):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            assert target.is_file(), f"{path.relative_to(site)} links to {link}"
            if parts.fragment and target in pages:
                assert unquote(parts.fragment) in pages[target].ids, f"{path.relative_to(site)} links to {link}"


def test_nothing_is_loaded_from_elsewhere(site, pages):
    for path, page in pages.items():
        strangers = [link for link in page.loaded if urlsplit(link).netloc]
        assert strangers == [], path.relative_to(site)
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert re.findall(r"url\(\s*['\"]?(?:https?:)?//", styles) == []
    assert "@import" not in styles


def test_every_public_name_is_in_the_reference(site, pages):
    assert not MISSING, f"install the extras first: {MISSING}"
    reference = [path for path in pages if path.parent == (site / "api").resolve()]
    headings = set().union(*(pages[path].ids for path in reference))
    words = {word for path in reference for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))}
    for name in iter_public_names():
        is_listed = (
            name.path.endswith("_") and name.path.rpartition(".")[2] in words
        )  # among the attributes of its class
        assert name.path in headings or is_listed, name.path


@pytest.fixture(scope="module")
def phone():
    pytest.importorskip("selenium", reason="selenium is not installed: pip install 'anchorless[test-all]'")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    from tests.report.test_browser import CHROMEDRIVER, CHROMIUM, FLAGS

    if not (CHROMIUM and CHROMEDRIVER):
        pytest.skip("no Chromium with ChromeDriver here: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for flag in [*FLAGS, f"--user-data-dir={profile}"]:
            options.add_argument(flag)
        driver = webdriver.Chrome(options=options, service=Service(CHROMEDRIVER))
        size = {"width": PHONE, "height": 800, "deviceScaleFactor": 2, "mobile": True}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        yield driver
        driver.quit()


def test_every_page_fits_a_phone(site, pages, phone):
    results = (site / "results").resolve()
    for path in sorted(path for path in pages if not path.is_relative_to(results)):
        phone.get(path.as_uri())
        width = phone.execute_script("return document.documentElement.scrollWidth")
        assert width <= PHONE, f"{path.relative_to(site)} is {width} pixels wide"


def test_the_search_works_on_pages_that_are_opened_from_a_disk(site, phone):
    from selenium.webdriver.support.ui import WebDriverWait

    phone.get((site / "how-to" / "faq.html").as_uri())
    phone.execute_script("document.querySelector('[data-md-toggle=search]').click()")
    query = phone.find_element("css selector", "[data-md-component=search-query]")
    WebDriverWait(phone, 10).until(lambda _: query.is_displayed())
    query.send_keys("coherence")
    found = WebDriverWait(phone, 20).until(lambda it: it.find_elements("css selector", ".md-search-result__link"))
    assert "coherence.html" in found[0].get_attribute("href")
