"""`make torture`, a small part of it: nothing that it tries fails."""

from __future__ import annotations

import random
import shutil
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks import torture
from benchmarks.torturing import calling, kernels, processes
from benchmarks.torturing.checking import Check, LackingError, too_slow


@pytest.mark.parametrize(
    ("name", "tries"),
    [
        ("files", 10),
        ("keywords", 40),
        ("documents", 25),
        ("commands", 6),
        ("hostile names", 1),
        ("threads", 1),
        ("outputs", 1),
        ("streams", 1),
    ],
)
def test_nothing_fails(tmp_path: Path, name: str, tries: int) -> None:
    """Every try ends well, or is refused in words."""
    run, _ = torture.CHECKS[name]
    check, rng = Check(name), random.Random(f"small {name}")
    for _ in range(tries):
        run(check, rng, tmp_path)
    assert check.tries + bool(check.note) >= tries
    assert dict(check.failures) == {}


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_kernels_under_sanitizers(tmp_path: Path) -> None:
    """Some calls of one C module under both sanitizers."""
    check = Check("kernels")
    few = {"modules": ("data/_draw",), "designs": kernels.DESIGNS[:1], "n": 500}
    kernels.kernels_under_sanitizers(check, random.Random(1), tmp_path, **few)
    if check.note:
        pytest.skip(check.note)
    assert dict(check.failures) == {}
    assert check.tries > 400
    assert 0 < check.refused < check.tries


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_sanitizers_notice(tmp_path: Path) -> None:
    """A module that reads beside an array is a failure, with the function that did."""
    source = tmp_path / "bad.c"
    source.write_text(
        "#define PY_SSIZE_T_CLEAN\n#undef Py_LIMITED_API\n#include <Python.h>\n"
        "static PyObject *peek(PyObject *self, PyObject *args) {\n"
        '    Py_buffer b; if (!PyArg_ParseTuple(args, "y*", &b)) return NULL;\n'
        "    long found = ((unsigned char *)b.buf)[b.len]; PyBuffer_Release(&b); return PyLong_FromLong(found); }\n"
        'static PyMethodDef methods[] = {{"peek", peek, METH_VARARGS, ""}, {NULL, NULL, 0, NULL}};\n'
        'static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "bad", NULL, 0, methods, NULL, NULL, NULL, NULL};\n'
        "PyMODINIT_FUNC PyInit_bad(void) { return PyModule_Create(&module); }\n"
    )
    try:
        kernels.compile_module(source, tmp_path / "bad.so")
    except LackingError as lacking:
        pytest.skip(str(lacking))
    (tmp_path / "calls").write_bytes(kernels.pickle.dumps({("bad", "peek"): [(np.zeros(5000, np.uint8),)]}))
    check = Check("kernels")
    kernels.run_batch(check, tmp_path, 0, 50)
    (told,) = check.failures
    assert "bad.peek" in told
    assert "AddressSanitizer" in told


def test_calls_that_break_what_is_trusted_are_not_made() -> None:
    """Codes beyond their size are no call of an audit; arrays that do not fit have to be refused by the module."""
    codes, cells, rows = (np.array([0, 1], np.uint8),), np.array([0, 1], np.uint8), np.array([0, 1], np.uint32)
    key, where = ("_kernel", "count"), (np.array([0]), np.array([2]), np.array([0]))
    good = (codes, cells, rows, None, *where, np.array([2]), 2, None, None, None)
    assert calling.is_trusted(key, good)
    assert not calling.is_trusted(key, (*good[:7], np.array([1]), *good[8:]))
    assert not calling.is_trusted(key, (*good[:2], np.array([0, 2], np.uint32), *good[3:]))
    assert calling.is_trusted(key, (None, *good[1:]))


def test_packed_amounts_within_their_fields_are_tried() -> None:
    """Codes above their size, and more people than there may be, are no call; what lies beside the rows is not read."""
    fields = np.array([0]), np.array([5]), np.array([2]), np.array([2]), np.zeros(1, np.uint8), np.zeros(2)
    rows = np.array([[1 << 5, 1 << 32 | 7], [3 << 5, 2**64 - 1]], np.uint64)
    key, out = ("_packed", "count_amounts"), (np.array([0]), np.zeros(1, np.uint32), np.zeros((1, 4)), np.zeros(1))
    for end, size, people, is_tried in [(1, 2, 1, True), (2, 2, 1, False), (1, 0, 1, False), (1, 2, 2**31, False)]:
        told, of_size = rows.copy(), (*fields[:3], np.array([size]), *fields[4:])
        told[0, 1] = people << 32 | 7
        arguments = ((2, 5, 1, 32), (*of_size, told, np.array([0]), np.array([end]), *out))
        assert calling.is_trusted(key, arguments) == is_tried
    assert calling.is_trusted(key, ((2, 5, 1, 32), None))


@pytest.mark.parametrize(
    ("name", "whole", "half"),
    [
        ("a.json", b'{"a": 1}\n', b'{"a": '),
        ("a.html", b"<!DOCTYPE html><html></html>\n", b"<!DOCTYPE html><html>"),
        ("a.pdf", b"%PDF-1.7\n%%EOF\n", b"%PDF-1.7\n"),
        ("a.csv", b"a,b\n", b"a,"),
        ("a.xlsx", None, b"PK\x03\x04"),
    ],
)
def test_half_a_report_is_noticed(tmp_path: Path, name: str, whole: bytes | None, half: bytes) -> None:
    """A report that ends early is told from one that does not."""
    path = tmp_path / name
    path.write_bytes(half)
    assert not processes.is_whole(path)
    if whole is not None:
        path.write_bytes(whole)
        assert processes.is_whole(path)


def test_failures_are_told() -> None:
    """What is no AldError is a failure with its place, and what takes too long is one, too."""
    check = Check("mine")

    def fails() -> Any:
        raise ValueError("no")

    def lacks() -> Any:
        raise LackingError("skipped: needs a moon")

    check.attempt("a", fails)
    check.attempt("b", lambda: signal.raise_signal(signal.SIGALRM))
    check.attempt("c", lambda: None)
    check.attempt("d", lacks)
    assert signal.getsignal(signal.SIGALRM) is not too_slow
    assert check.failures == {"a: ValueError in elsewhere": 1, "b: more than 90 s": 1}
    assert vars(Check.read(check.dump())) == vars(check)
    assert "| mine | 3 | 0 | 2 |" in torture.table([check])
    assert check.note == "skipped: needs a moon"
    assert "needs a moon" in torture.table([check])
    assert "make torture" in torture.page([check])
