"""What gets through: max-min rates of flows, times of phases, and the load of every link."""

import numpy as np

# glibc hands freed arrays back to the kernel, and to fetch their pages again for the next arrays
# can cost more than the arithmetic. It keeps them once it has seen a block as large as this one
# freed; no page of it is ever touched, so it costs nothing.
np.empty((1 << 25) - (1 << 16), dtype=np.uint8)
