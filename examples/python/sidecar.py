"""What the Python examples share, with the standard library alone."""

import json
import os
import urllib.error
import urllib.request

URL = os.environ.get("SIDECAR_URL", "http://127.0.0.1:5393")
CREDENTIALS = os.environ.get("SIDECAR_CREDENTIALS", "")


class SidecarError(Exception):
    """A call that the sidecar refused, in its own words."""

    def __init__(self, body):
        super().__init__(body["msg"])
        self.code = body["code"]


def call(method, path, body=None, key=None, credentials=CREDENTIALS):
    """Calls the sidecar and answers its JSON. With a key, a repeat gives the first outcome again."""
    headers = {"content-type": "application/json"}
    if credentials:
        headers["authorization"] = f"Bearer {credentials}"
    if key:
        headers["idempotency-key"] = key
    data = None if method == "GET" else json.dumps(body or {}).encode()
    request = urllib.request.Request(URL + path, data, headers, method=method)
    try:
        # A payment may take its time, and the sidecar answers when it has ended.
        with urllib.request.urlopen(request, timeout=120) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        raise SidecarError(json.load(error)) from None
