"""Builds the optional kernels; every other setting is in pyproject.toml."""

from pathlib import Path

from setuptools import Extension, setup

# Limited API: one binary serves every CPython from 3.11 on. Optional: without a compiler the install succeeds and
# ald._core.kernels falls back to NumPy, with identical results. No contraction: every machine rounds alike.
kernels = [
    Extension(
        f"ald.{name.replace('/', '.')}",
        sources=[f"src/ald/{name}.c"],
        depends=[str(header) for header in Path("src/ald").rglob("*.h")],
        define_macros=[("Py_LIMITED_API", "0x030B0000")],
        py_limited_api=True,
        optional=True,
        extra_compile_args=["-O3", "-ffp-contract=off"],
    )
    for name in (
        "data/_draw",
        "data/inputs/_texts",
        "search/explore/_evidence",
        "_core/_kernel",
        "_core/_packed",
        "data/_tables",
        "search/everyone/_lanes",
    )
]

setup(ext_modules=kernels, options={"bdist_wheel": {"py_limited_api": "cp311"}})
