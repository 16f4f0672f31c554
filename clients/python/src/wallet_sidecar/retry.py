"""When a call is repeated."""

from __future__ import annotations

import random

from .failure import WalletSidecarError
from .generated.errors import NodeUnreachableError, OverCapacityError

#: The first delay in seconds before a call is repeated. The delay doubles each time.
_FIRST_DELAY_SECS = 0.2
#: The longest delay in seconds. A call is not repeated if the sidecar asks for a longer one.
_MOST_DELAY_SECS = 10.0


def retry_delay_secs(error: WalletSidecarError, attempt: int) -> float | None:
    """Returns the seconds to wait before a call that ended with ``error`` is repeated for the ``attempt``th time.

    Returns None if repeating cannot help: only a sidecar that did not answer, is full or stopping, or cannot reach its
    node may succeed a moment later.
    """
    passing = isinstance(error, (OverCapacityError, NodeUnreachableError)) or error.kind in (
        "unreachable",
        "unanswered",
    )
    if not passing or (error.retry_after_secs or 0) > _MOST_DELAY_SECS:
        return None
    if error.retry_after_secs is not None:
        return float(error.retry_after_secs)
    delay_secs = min(_MOST_DELAY_SECS, _FIRST_DELAY_SECS * 2.0 ** min(attempt - 1, 16))
    # Half of the delay is random, so that the clients of a restarted sidecar do not all call at the same time.
    return delay_secs * (0.5 + random.random() / 2)
