"""Names for the array types that pass between modules."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
ByteArray = npt.NDArray[np.uint8]
CodeArray = npt.NDArray[np.unsignedinteger[Any]]
AnyArray = npt.NDArray[Any]
