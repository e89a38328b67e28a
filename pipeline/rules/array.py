"""The one kind of array that lanes and rules hand to each other."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.int64]
