# SPDX-License-Identifier: Apache-2.0
"""FIX messages in Python, written from the standard and not from the programs: an independent
oracle of their codec. A message is a list of (tag, text); 8, 9 and 10 are made and checked here."""

import re
import socket
import time

SOH = b"\x01"
HEAD = re.compile(rb"8=FIX\.4\.4\x019=([0-9]+)\x01")


def encode(fields):
    """The bytes of a message; `fields` begin with MsgType (35)."""
    body = b"".join(f"{tag}={text}".encode("latin-1") + SOH for tag, text in fields)
    head = b"8=FIX.4.4\x019=%d\x01" % len(body)
    return head + body + b"10=%03d\x01" % (sum(head + body) % 256)


def cut(data):
    """The first message in `data` and the rest of it; None where it is not whole. Raises ValueError
    where it is no message."""
    head = HEAD.match(data)
    if not head:
        if len(data) > 40:
            raise ValueError(f"no message: {data[:60]!r}")
        return None, data
    end = head.end() + int(head[1])
    if len(data) < end + 7:
        return None, data
    if data[end : end + 7] != b"10=%03d\x01" % (sum(data[:end]) % 256):
        raise ValueError(f"a wrong sum: {data[:end + 7]!r}")
    fields = []
    for field in data[head.end() : end].split(SOH)[:-1]:
        tag, _, text = field.decode("latin-1").partition("=")
        fields.append((tag, text))
    return fields, data[end + 7 :]


def value(message, tag):
    """Of the first field with this tag, or None."""
    return next((text for one, text in message if one == str(tag)), None)


def connect(address, timeout_s=20):
    """To HOST:PORT or unix:PATH, as soon as a program listens there."""
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            if address.startswith("unix:"):
                made = socket.socket(socket.AF_UNIX)
                try:
                    made.connect(address[5:])
                except OSError:
                    made.close()
                    raise
            else:
                host, port = address.rsplit(":", 1)
                made = socket.create_connection((host, int(port)))
            return made
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


class Connection:
    """A socket that FIX messages go over, one thread."""

    def __init__(self, address, timeout_s=20):
        self.socket = connect(address, timeout_s)
        self.socket.settimeout(timeout_s)
        self.data = b""

    def __del__(self):
        if hasattr(self, "socket"):
            self.socket.close()

    def send(self, fields):
        """One message."""
        self.socket.sendall(encode(fields))

    def receive(self):
        """The next message; None at the end of the connection."""
        while True:
            message, self.data = cut(self.data)
            if message is not None:
                return message
            try:
                more = self.socket.recv(1 << 16)
            except ConnectionError:
                return None
            if not more:
                return None
            self.data += more

    def close(self):
        """Ends the connection."""
        self.socket.close()
