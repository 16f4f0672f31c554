"""Pays an invoice of the sandbox through a client that openapi-python-client has made."""

import json
import sys

from wallet_sidecar_client import Client
from wallet_sidecar_client.api.deliveries import get_webhooks_deliveries
from wallet_sidecar_client.api.payments import get_list_payments, put_sync_payments
from wallet_sidecar_client.api.receive import post_get_next_unused_address
from wallet_sidecar_client.api.sandbox import post_sandbox_invoice
from wallet_sidecar_client.api.send import post_pay_invoice
from wallet_sidecar_client.models import (
    AddressType,
    GetListPaymentsFilter,
    OutsideBehavior,
    PaymentOrder,
    PostGetNextUnusedAddressBody,
    PostPayInvoiceBody,
    PostSandboxInvoiceBody,
    PutSyncPaymentsBody,
)

client = Client(base_url=sys.argv[1], raise_on_unexpected_status=True, timeout=60)
invoice = post_sandbox_invoice.sync(
    client=client,
    body=PostSandboxInvoiceBody(amount="1500.5", behavior=OutsideBehavior.SETTLE),
)
payment = post_pay_invoice.sync(
    client=client,
    body=PostPayInvoiceBody(invoice=invoice.invoice),
    idempotency_key="generated-python",
)
put_sync_payments.sync(client=client, body=PutSyncPaymentsBody())
page = get_list_payments.sync(
    client=client, filter_=GetListPaymentsFilter.COMPLETED, order=PaymentOrder.DESC
)
address = post_get_next_unused_address.sync(
    client=client, body=PostGetNextUnusedAddressBody(type_=AddressType.TAPROOT)
)
deliveries = get_webhooks_deliveries.sync(client=client)

json.dump(
    {
        "status": payment.status,
        "amount": payment.amount,
        "created_at": payment.created_at,
        "paid": payment.index,
        "newest": page.payments[0].index,
        "address": address.address,
        "deliveries": len(deliveries.deliveries),
    },
    sys.stdout,
)
