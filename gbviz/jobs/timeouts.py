"""How long an InfiniBand connection waits for an answer before it gives up."""

from __future__ import annotations

import math

from gbviz.errors import InputError

_BASE_S = 4.096e-6


def ib_try_s(exponent: int) -> float:
    """Seconds that one try waits: 4.096 µs x 2^exponent; 0 waits for ever.

    Raises
    ------
    InputError
        Not in 0 to 31: the field has five bits.

    References
    ----------
    InfiniBand Architecture Specification, volume 1, Local ACK Timeout.

    Examples
    --------
    >>> ib_try_s(20), ib_try_s(0)
    (4.294967296, inf)
    """
    if not 0 <= exponent <= 31:
        raise InputError(f"must be in 0 to 31 (got {exponent})", where="ib timeout exponent")
    return math.ldexp(_BASE_S, exponent) if exponent else math.inf


def ib_timeout_s(exponent: int, retries: int) -> float:
    """Seconds after which a connection whose peer is gone fails.

    Parameters
    ----------
    exponent
        NCCL_IB_TIMEOUT.
    retries
        NCCL_IB_RETRY_CNT, 1 to 7.

    Raises
    ------
    InputError
        Outside what the hardware's fields hold.

    References
    ----------
    NVIDIA, NCCL user guide, environment variables.

    Examples
    --------
    >>> round(ib_timeout_s(20, 7), 2)
    30.06
    """
    if not 1 <= retries <= 7:
        raise InputError(f"must be in 1 to 7 (got {retries})", where="ib retries")
    return retries * ib_try_s(exponent)
