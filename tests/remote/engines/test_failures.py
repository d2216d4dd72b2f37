"""What engines say when they fail: one line, and no passwords."""

from __future__ import annotations

import pytest

from ald import InputError, SettingError
from ald.remote.engines.failures import reason, translate_errors

JAVA = """An error occurred while calling o37.parquet.
: java.lang.RuntimeException: java.lang.ClassNotFoundException: Class S3AFileSystem not found
\tat org.apache.hadoop.conf.Configuration.getClass(Configuration.java:2737)
Caused by: java.lang.ClassNotFoundException: Class S3AFileSystem not found
\tat org.apache.hadoop.conf.Configuration.getClassByName(Configuration.java:2642)
\t... 29 more"""
WORKER = """
  An exception was thrown from the Python worker. Please see the stack trace below.
Traceback (most recent call last):
  File "worker.py", line 1, in main
ald.errors.InputError: the file cannot be read: no date
"""


MODULE = """
  An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "serializers.py", line 483, in loads
    return cloudpickle.loads(obj, encoding=encoding)
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
ModuleNotFoundError: No module named 'ald'

JVM stacktrace:
org.apache.spark.SparkException: Job aborted due to stage failure
\tat org.apache.spark.scheduler.DAGScheduler.failJobAndIndependentStages
Caused by: org.apache.spark.api.python.PythonException: Traceback: see above
"""


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (MODULE, "No module named 'ald': workers need ald-audit too (PYSPARK_PYTHON says which Python they run)"),
        (MODULE.replace("ModuleNotFoundError: No module named 'ald'", "KeyError: 'x'"), "'x'"),
        (MODULE.replace("ModuleNotFoundError: No module named 'ald'", "MemoryError"), "MemoryError"),
        (JAVA, "Class S3AFileSystem not found"),
        (WORKER, "the file cannot be read: no date"),
        ("[PATH_NOT_FOUND] Path does not exist: file:/a.csv.", "Path does not exist: file:/a.csv."),
        ("An error occurred while calling the read_csv method\nOriginal Message: no s3fs", "no s3fs"),
        ("http://ann:secret@h/x: 404", "http://ann:***@h/x: 404"),
        ("", "OSError"),
    ],
)  # fmt: skip
def test_reason(message: str, said: str) -> None:
    """The line that says why is found among those that say where."""
    assert reason(OSError(message)) == said


def test_told() -> None:
    """Errors of an engine become ours; our own, and those of other kinds, stay what they are."""
    expected = r"^Dask cannot read 's3://ann:\*\*\*@h/x': no ann:\*\*\*$"
    with pytest.raises(InputError, match=expected), translate_errors("Dask", (OSError,), "s3://ann:secret@h/x"):
        raise OSError("no ann:secret")
    with pytest.raises(SettingError, match=r"^ours$"), translate_errors("Dask", (ValueError,)):
        raise SettingError("ours")
    with pytest.raises(KeyError), translate_errors("Dask", (ValueError,)):
        raise KeyError("x")
