# SPDX-License-Identifier: Apache-2.0
"""A proxy before a Redis server that breaks connections at the worst moment."""

import random
import socket
import threading
import time


class LateProxy:
    """Breaks the connection at each third EXEC, which it keeps. The server gets it by the old
    connection when the program, by the next one, has asked for its number once or twice: before the
    transaction is sent once more, while it is, or behind it.
    """

    def __init__(self, server_port: int):
        self.server_port = server_port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.late = 0          # transactions that came so
        self.held = None       # connection to the server, and its bytes
        self.looks = 0         # of the program, until they are handed on
        self.transactions = 0
        self.lock = threading.Lock()
        self.open = []
        threading.Thread(target=self.accept, daemon=True).start()

    def close(self) -> None:
        self.listener.close()
        for one in self.open:
            one.close()

    def accept(self) -> None:
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self.server_port))
            self.open += [client, server]
            threading.Thread(target=self.answers, args=(server, client), daemon=True).start()
            threading.Thread(target=self.commands, args=(client, server), daemon=True).start()

    @staticmethod
    def answers(server: socket.socket, client: socket.socket) -> None:
        try:
            while data := server.recv(1 << 16):
                client.sendall(data)
        except OSError:
            pass

    def commands(self, client: socket.socket, server: socket.socket) -> None:
        """An EXEC comes at the end of what is sent, because the program waits for its answer."""
        try:
            while data := client.recv(1 << 16):
                if data.endswith(b"EXEC\r\n") and self.breaks(client, server, data):
                    return
                server.sendall(data)
                if b"\r\nGET\r\n" in data:
                    self.hand_on()
        except OSError:
            pass

    def breaks(self, client: socket.socket, server: socket.socket, data: bytes) -> bool:
        with self.lock:
            self.transactions += 1
            if self.held or self.transactions % 3:
                return False
            self.held = (server, data)
            self.looks = random.choice((1, 2))
        client.shutdown(socket.SHUT_RDWR)
        return True

    def hand_on(self) -> None:
        with self.lock:
            self.looks -= 1
            if not self.held or self.looks > 0:
                return
            server, data = self.held
            self.held = None
            self.late += 1
        time.sleep(random.choice((0, 0.002)))
        server.sendall(data)
