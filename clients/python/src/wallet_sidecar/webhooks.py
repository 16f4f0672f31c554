"""Webhooks (Standard Webhooks)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import time
from collections.abc import Iterable
from typing import Any, Literal, Protocol, Union

from .answers import json_of
from .decoding import DecodingError, decode
from .generated.types import ClientBudgetLow, PaymentApprovalRequested, PaymentFinalized, PaymentHeld, WebhookTest

#: What is wrong with a webhook, in the order of the checks:
#: - ``header``: a header is missing.
#: - ``timestamp``: its time is not a number of seconds.
#: - ``signature``: no signature matches.
#: - ``age``: the signature matches, but it was not made now. The webhook may be a replay.
#: - ``body``: the signature matches, but the body is no webhook that this version knows.
VerificationProblem = Literal["header", "timestamp", "signature", "age", "body"]

#: The body of a webhook.
_Body = Union[PaymentFinalized, PaymentHeld, PaymentApprovalRequested, ClientBudgetLow, WebhookTest]

_TIMESTAMP = re.compile(r"[0-9]{1,12}")
_VERSION = "v1,"


class WebhookHeaders(Protocol):
    """Headers in the forms of a dict, ``http.server`` and most frameworks."""

    def items(self) -> Iterable[tuple[str, Any]]:
        """Returns names and values."""


class WebhookVerificationError(Exception):
    """The webhook was not sent by the sidecar, or at another time. Answer 400 and do nothing else."""

    def __init__(self, problem: VerificationProblem, message: str) -> None:
        super().__init__(problem, message)
        self.problem: VerificationProblem = problem

    def __str__(self) -> str:
        return str(self.args[1])


def verify_webhook(
    body: bytes | str,
    headers: WebhookHeaders,
    secret: str,
    *,
    tolerance_secs: float = 300,
    now_secs: float | None = None,
) -> PaymentFinalized | PaymentHeld | PaymentApprovalRequested | ClientBudgetLow | WebhookTest:
    """Verifies a webhook and returns its body; ``type`` says which event it is.

    It is a payment, but for ``client.budget_low``, which is a client. ``webhook.test`` is a test, in which no money
    moved.

    ``body`` is the raw body: JSON that was parsed and written again has another signature. A repeated webhook has the
    same ``webhook-id``, so use it to process each one once. Raises WebhookVerificationError, and ValueError for a
    secret that is not base64.
    """
    verify_signature(body, headers, secret, tolerance_secs=tolerance_secs, now_secs=now_secs)
    try:
        event: _Body = decode(_Body, json_of(_bytes(body)))
        return event
    except DecodingError as error:
        raise WebhookVerificationError(
            "body",
            "The body of the webhook is signed, but it is no webhook that this version knows: "
            "check who else has the secret, and whether the sidecar is newer.",
        ) from error


def verify_signature(
    body: bytes | str,
    headers: WebhookHeaders,
    secret: str,
    *,
    tolerance_secs: float = 300,
    now_secs: float | None = None,
) -> None:
    """Verifies signature and time of a webhook, whatever its body holds; raises as ``verify_webhook`` does."""
    webhook_id = _header(headers, "webhook-id")
    timestamp = _header(headers, "webhook-timestamp")
    signatures = _header(headers, "webhook-signature")
    if not _TIMESTAMP.fullmatch(timestamp):
        raise WebhookVerificationError(
            "timestamp", "The header webhook-timestamp is not a time in seconds: do not trust the webhook."
        )
    signed = f"{webhook_id}.{timestamp}.".encode() + _bytes(body)
    expected = hmac.new(_secret_bytes(secret), signed, hashlib.sha256).digest()
    # Every one is compared, in constant time, so that a signature cannot be guessed byte by byte.
    if not any([hmac.compare_digest(given, expected) for given in _given(signatures)]):
        raise WebhookVerificationError(
            "signature",
            "No signature of the webhook matches: check that the secret is the endpoint's, "
            "and that the body is unchanged.",
        )
    now = time.time() if now_secs is None else now_secs
    if abs(now - int(timestamp)) > tolerance_secs:
        raise WebhookVerificationError(
            "age", "The webhook is too old or too new: check the clocks of both machines."
        )


def _given(signatures: str) -> list[bytes]:
    """Returns the signatures of the version that is known."""
    decoded = (_from_base64(part.removeprefix(_VERSION)) for part in signatures.split(" ") if part.startswith(_VERSION))
    return [signature for signature in decoded if signature is not None]


def _header(headers: WebhookHeaders, name: str) -> str:
    for key, value in headers.items():
        if key.lower() == name and isinstance(value, str) and value:
            return value
    raise WebhookVerificationError(
        "header",
        f"The webhook has no header {name}: "
        "check that its endpoint has a secret (--webhook-secret for the configured one).",
    )


def _bytes(body: bytes | str) -> bytes:
    return body.encode() if isinstance(body, str) else body


def _secret_bytes(secret: str) -> bytes:
    decoded = _from_base64(secret.removeprefix("whsec_"))
    if decoded:
        return decoded
    raise ValueError("The webhook secret is not base64 (with or without whsec_): copy the secret of the endpoint.")


def _from_base64(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
