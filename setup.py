"""Builds the optional kernels; every other setting is in pyproject.toml."""

from setuptools import Extension, setup

# Limited API: one binary serves every CPython from 3.11 on. Optional: without a compiler the install succeeds and
# ald.search.kernels falls back to NumPy, with identical results. No contraction: every machine rounds alike.
kernels = [
    Extension(
        f"ald.search.{name}",
        sources=[f"src/ald/search/{name}.c"],
        depends=[f"src/ald/search/{header}.h" for header in ("_buffers", "_counting", "_parting", "_rows", "_sums", "_tests", "_vectors")],
        define_macros=[("Py_LIMITED_API", "0x030B0000")],
        py_limited_api=True,
        optional=True,
        extra_compile_args=["-O3", "-ffp-contract=off"],
    )
    for name in ("_evidence", "_kernel", "_packed", "_tables")
]

setup(ext_modules=kernels, options={"bdist_wheel": {"py_limited_api": "cp311"}})
