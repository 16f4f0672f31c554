"""The error of a call."""

from __future__ import annotations

from typing import Literal

#: How a call went wrong:
#: - ``error``: the sidecar answered with an error; its ``code`` says which one.
#: - ``unreachable``: no connection was made, so the request was not sent.
#: - ``unanswered``: no answer came, but the request may have arrived.
#: - ``foreign``: the answer did not come from a wallet-sidecar, or from one of another version.
ErrorKind = Literal["error", "unreachable", "unanswered", "foreign"]


class WalletSidecarError(Exception):
    """A call that got an error, or no answer, from the sidecar.

    Its text is the sidecar's own sentence. Each code has a class below this one, such as ``OverBudgetError``; an error
    with a code of a later version is of this class itself. A payment that was tried and failed is not an error: it is a
    Payment with the status ``failed``.
    """

    kind: ErrorKind
    #: The code of the error; None unless ``kind`` is ``error``.
    code: int | None
    #: None when there was no answer.
    http_status: int | None
    #: Further details, by the class of the error; None where there are none.
    data: object
    #: The answer's whole JSON; None when there was none.
    body: object
    #: Seconds after which the same call may succeed; None when the sidecar does not say.
    retry_after_secs: int | None
    #: Whether the call may have done what you asked, although it failed: a payment may be on its way. Call again with
    #: the same idempotency key, or check what happened, before you try anew. False when nothing was done, and for
    #: reads.
    may_have_taken_effect: bool

    def __init__(
        self,
        message: str,
        *,
        kind: ErrorKind = "error",
        code: int | None = None,
        http_status: int | None = None,
        data: object = None,
        body: object = None,
        retry_after_secs: int | None = None,
        may_have_taken_effect: bool = False,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.code = code
        self.http_status = http_status
        self.data = data
        self.body = body
        self.retry_after_secs = retry_after_secs
        self.may_have_taken_effect = may_have_taken_effect


class NoAnswerError(WalletSidecarError):
    """No sidecar answered the call; ``kind`` says whether the request may have arrived."""
