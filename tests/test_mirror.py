"""The tests lie where the modules lie that they test."""

from __future__ import annotations

from pathlib import Path

import ald

TESTS = Path(__file__).parent
SOURCE = Path(ald.__file__).parent

# Modules tested at another place: where, and why there.
ELSEWHERE = {
    # Said or held by what uses them; nothing to test by themselves.
    "_core/arrays.py": "_core/test_kernels.py",
    "_core/version.py": "test_docs.py",
    "remote/engines/protocols.py": "remote/engines/test_arrow.py",
    "rows/protocols.py": "rows/test_local.py",
    # Equal to their compiled twins, bit by bit: one test for both.
    "_core/_numpy_kernel.py": "_core/test_kernels.py",
    "search/everyone/_numpy_lanes.py": "search/everyone/test_numpy_lanes.py",
    # One door: sources for what it reads, the language for its steps, pictures of one report.
    "data/inputs/reading.py": "data/inputs/test_sources.py",
    "data/inputs/store.py": "data/inputs/test_reduction.py",
    "data/table.py": "data/inputs/test_sources.py",
    "groups/language/meaning.py": "groups/test_language.py",
    "groups/language/syntax.py": "groups/test_language.py",
    "groups/language/tokens.py": "groups/test_language.py",
    "report/pictures/charts.py": "report/pictures/test_pictures.py",
    "report/pictures/curve.py": "report/pictures/test_pictures.py",
    "report/pictures/groups.py": "report/pictures/test_pictures.py",
    "report/pictures/reliability.py": "report/pictures/test_pictures.py",
    "report/pictures/spread.py": "report/pictures/test_pictures.py",
    "report/pictures/tree.py": "report/pictures/test_pictures.py",
    # Every public data set is read, checked and described alike.
    "datasets/adult.py": "datasets/test_public.py",
    "datasets/compas.py": "datasets/test_public.py",
    "datasets/german.py": "datasets/test_public.py",
    # Every engine answers the same questions of the same rows; every counter gives the same forest.
    "remote/engines/blocks.py": "remote/engines/test_arrow.py",
    "remote/engines/dask.py": "remote/test_lazy.py",
    "remote/engines/duckdb.py": "remote/test_lazy.py",
    "remote/engines/engine.py": "remote/test_lazy.py",
    "remote/engines/folders.py": "remote/engines/test_dask_files.py",
    "remote/preparing.py": "remote/test_distributed.py",
    "search/forest/counting.py": "search/forest/test_packed.py",
    # The study's own tests run its command.
    "cli/reproduce.py": "study/test_reproduce.py",
    # Pages are looked at as the server sends them, and what they show as processes of their own find it.
    "web/pages/answer.py": "web/test_app.py",
    "web/pages/asking.py": "web/test_app.py",
    "web/pages/frame.py": "web/test_app.py",
    "web/pages/start.py": "web/test_app.py",
    "web/state.py": "web/test_app.py",
    "web/worker.py": "web/test_jobs.py",
    # Parts of a result, which is tested whole.
    "groups/tree.py": "search/forest/test_growth.py",
    "report/whole.py": "report/test_files.py",
    "report/words.py": "report/summary/test_sentences.py",
    "report/summary/cards.py": "report/summary/test_report.py",
    "report/summary/facts.py": "report/summary/test_report.py",
    "report/summary/findings.py": "report/summary/test_report.py",
    "report/summary/sections.py": "report/summary/test_report.py",
    "report/summary/settings.py": "report/summary/test_report.py",
    "results/audit.py": "test_auditing.py",
    "results/claims.py": "results/test_everyone.py",
    "results/mode.py": "results/test_everyone.py",
    "search/everyone/descriptions.py": "search/everyone/test_strongest.py",
    "search/everyone/layout.py": "search/everyone/test_shuffles.py",
    "search/explore/prices.py": "search/explore/test_scoring.py",
}
# What audits promise as a whole, whichever module keeps it.
PROMISES = {
    "groups/test_language.py",
    "integrations/test_fairlearn.py",
    "report/pictures/test_pictures.py",
    "report/test_asked.py",
    "report/test_browser.py",
    "report/summary/test_further.py",
    "search/everyone/test_numpy_lanes.py",
    "test_against_reference.py",
    "test_amounts.py",
    "test_asked.py",
    "test_determinism.py",
    "test_direction.py",
    "test_docs.py",
    "test_laws.py",
    "test_mirror.py",
    "test_odd_data.py",
    "test_odd_options.py",
    "test_public_names.py",
    "test_scores.py",
    "test_second_opinion.py",
    "test_supply.py",
    "test_torture.py",
    "test_unseen.py",
    "web/test_browser.py",
}


def mirrored() -> dict[str, str]:
    """Per module with something in it where its tests lie."""
    modules = [path.relative_to(SOURCE) for path in SOURCE.rglob("*.py") if not path.name.startswith("__")]
    return {module.as_posix(): (module.parent / f"test_{module.name}").as_posix() for module in modules}


def files() -> set[str]:
    """All files of tests."""
    return {path.relative_to(TESTS).as_posix() for path in TESTS.rglob("test_*.py")}


def test_every_module_has_its_tests() -> None:
    """At the same place, or where the list of exceptions says; who adds a module adds its tests."""
    without = {module for module, place in mirrored().items() if place not in files()}
    assert without == set(ELSEWHERE)
    assert set(ELSEWHERE.values()) <= files()


def test_every_test_has_its_module() -> None:
    """Tests that are at no module's place are about what audits promise as a whole."""
    assert files() - set(mirrored().values()) == PROMISES
