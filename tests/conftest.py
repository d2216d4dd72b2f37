"""Settings of all tests: Hypothesis gives the same examples in every run and keeps no files."""

import importlib.util
import shutil
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadScopeScheduling

from tests.browsing import missing

settings.register_profile(
    "ald",
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("ald")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that ask for the C kernel need it: without a compiler it is not built, and NumPy counts."""
    if importlib.util.find_spec("ald._core._kernel") is not None:
        return
    for item in items:
        if (
            isinstance(item, pytest.Function)
            and hasattr(item, "callspec")
            and item.callspec.params.get("kernel") == "c"
        ):
            item.add_marker(pytest.mark.skip(reason="the C kernel was not built"))


class _OneCluster(LoadScopeScheduling):
    """Tests go to whichever process is free; those that share a cluster go to one, so that it is started once."""

    def _split_scope(self, nodeid: str) -> str:
        module = nodeid.partition("::")[0]
        return module if module.endswith("test_spark.py") else nodeid


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    return _OneCluster(config, log)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A browser of its own for every module of tests that asks for one."""
    executable = shutil.which("chromium")
    if executable is None:
        missing("chromium (apt-get install chromium)")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def heard_signals() -> Iterator[None]:
    """Commands that are started hear signals, also where whoever started the tests ignores them."""
    heard = {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: signal.SIG_DFL}
    before = {number: signal.signal(number, handler) for number, handler in heard.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
