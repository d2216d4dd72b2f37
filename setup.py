"""Builds the optional kernels; every other setting is in pyproject.toml."""

from setuptools import Extension, setup


def kernel(name: str) -> Extension:
    """One C file of the search.

    Limited API: one binary serves every CPython from 3.11 on. Optional: without a compiler the install
    succeeds and ald.search.kernels falls back to NumPy, with identical results; products and sums are
    rounded one by one for that.
    """
    return Extension(
        f"ald.search.{name}",
        sources=[f"src/ald/search/{name}.c"],
        define_macros=[("Py_LIMITED_API", "0x030B0000")],
        py_limited_api=True,
        optional=True,
        extra_compile_args=["-O3", "-ffp-contract=off"],
    )


setup(
    ext_modules=[kernel(name) for name in ("_kernel", "_evidence", "_tables")],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
