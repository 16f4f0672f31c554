"""The typed client of wallet-sidecar, a local HTTP API to a self-custodial Bitcoin and Lightning wallet."""

from .amounts import Sats, from_msat, to_msat
from .async_payment_events import AsyncPaymentEvents
from .failure import ErrorKind, NoAnswerError, WalletSidecarError
from .generated import errors as _errors
from .generated import types as _types
from .generated.async_client import AsyncWalletSidecar
from .generated.client import WalletSidecar
from .generated.errors import *  # noqa: F403
from .generated.types import *  # noqa: F403
from .generated.version import VERSION as __version__
from .payment_events import PaymentEvent, PaymentEvents
from .transport import IgnoredFields
from .webhooks import (
    VerificationProblem,
    WebhookHeaders,
    WebhookVerificationError,
    verify_signature,
    verify_webhook,
)

__all__ = [
    "AsyncPaymentEvents",
    "AsyncWalletSidecar",
    "ErrorKind",
    "IgnoredFields",
    "NoAnswerError",
    "PaymentEvent",
    "PaymentEvents",
    "Sats",
    "VerificationProblem",
    "WalletSidecar",
    "WalletSidecarError",
    "WebhookHeaders",
    "WebhookVerificationError",
    "__version__",
    "from_msat",
    "to_msat",
    "verify_signature",
    "verify_webhook",
]
__all__ += _errors.__all__
__all__ += _types.__all__
