"""The address of a sidecar."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True)
class BaseUrl:
    """Where a sidecar listens. ``path`` has no slash at its end."""

    is_https: bool
    host: str
    port: int | None
    path: str

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port is None else f":{self.port}"
        return f"{'https' if self.is_https else 'http'}://{host}{port}{self.path}"


def base_url_of(text: str, *, sends_credentials: bool) -> BaseUrl:
    """Reads the URL of a sidecar.

    Raises ValueError for what is not an http or https URL of a server, and where credentials would leave this machine
    without https, as the command line does.
    """
    url = _parsed(text)
    if url is None:
        raise ValueError(
            "The url of the sidecar must be an http or https URL without user, query and fragment, "
            "such as http://127.0.0.1:5393."
        )
    if sends_credentials and not url.is_https and not _is_loopback(url.host):
        raise ValueError(
            f"Credentials are sent only to this machine or over https, and the url is {url}: give an https URL."
        )
    return url


def _parsed(text: str) -> BaseUrl | None:
    try:
        url = urlsplit(text)
        host, port = url.hostname, url.port
    except ValueError:
        return None
    if url.scheme not in ("http", "https") or not host or "@" in url.netloc or "?" in text or "#" in text:
        return None
    if not text.isascii() or any(character <= " " for character in text):
        return None
    return BaseUrl(is_https=url.scheme == "https", host=host, port=port, path=url.path.rstrip("/"))


def _is_loopback(host: str) -> bool:
    name = host.removesuffix(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    return str(address) == "::1" if address.version == 6 else address.is_loopback
