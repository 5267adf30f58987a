"""One browser for all tests of the page, a fresh tab for each."""

from collections.abc import Iterator

import pytest

from .browser import Browser, Page, launched


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A running Chromium."""
    with launched(tmp_path_factory.mktemp("chromium")) as running:
        yield running


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """An empty tab."""
    tab = Page(browser)
    yield tab
    tab.close()
