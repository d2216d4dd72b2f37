"""Builds the optional counting kernel; every other setting is in pyproject.toml."""

from setuptools import Extension, setup

# Limited API: one binary serves every CPython from 3.11 on. Optional: without a compiler the install
# succeeds and ald.search.kernels falls back to NumPy, with identical integers.
kernel = Extension(
    "ald.search._kernel",
    sources=["src/ald/search/_kernel.c"],
    define_macros=[("Py_LIMITED_API", "0x030B0000")],
    py_limited_api=True,
    optional=True,
    extra_compile_args=["-O3"],
)

setup(ext_modules=[kernel], options={"bdist_wheel": {"py_limited_api": "cp311"}})
