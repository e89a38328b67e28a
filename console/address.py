"""Where a server listens, as an operator names it. Standard library only."""

from pipeline.faults import BadConfig

DEFAULT = "127.0.0.1:8480"
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_PORTS = 65_536


def address(listen: str) -> tuple[str, int]:
    """Host and port. Raises BadConfig for what is no address."""
    host, colon, port = listen.rpartition(":")
    if not colon or not host or not port.isdigit() or int(port) >= _PORTS:
        raise BadConfig(f"--listen {listen}: expected HOST:PORT, as {DEFAULT}")
    return host.strip("[]"), int(port)


def is_loopback(host: str) -> bool:
    """Whether this machine alone reaches it."""
    return host in _LOOPBACK


def shown_url(scheme: str, host: str, port: int) -> str:
    """The address for a browser, without a path."""
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"
