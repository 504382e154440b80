# SPDX-License-Identifier: Apache-2.0
"""Writes TotalView-ITCH 5.0 as its specification has it, and a market that sends such messages and
keeps its orders in the most obvious way."""

import random
import struct

NS = 1_000_000_000


def framed(message):
    """Behind its length."""
    return struct.pack(">H", len(message)) + message


def name(text):
    return text.ljust(8).encode("ascii")


def head(kind, stock, time_ns, tracking=7):
    return kind.encode() + struct.pack(">HH", stock, tracking) + time_ns.to_bytes(6, "big")


def system_event(time_ns, code):
    return head("S", 0, time_ns) + code.encode()


def directory(stock, time_ns, symbol):
    return (head("R", stock, time_ns) + name(symbol) + b"QN" + struct.pack(">I", 100) + b"NCZ PNN1N"
            + struct.pack(">I", 0) + b"N")


def add(stock, time_ns, reference, side, shares, symbol, price):
    return (head("A", stock, time_ns) + struct.pack(">QcI", reference, side.encode(), shares)
            + name(symbol) + struct.pack(">I", price))


def add_with_participant(stock, time_ns, reference, side, shares, symbol, price):
    return (head("F", stock, time_ns) + struct.pack(">QcI", reference, side.encode(), shares)
            + name(symbol) + struct.pack(">I", price) + b"MPID")


def executed(stock, time_ns, reference, shares):
    return head("E", stock, time_ns) + struct.pack(">QIQ", reference, shares, 4711)


def executed_at(stock, time_ns, reference, shares, price):
    return head("C", stock, time_ns) + struct.pack(">QIQcI", reference, shares, 4711, b"Y", price)


def cancelled(stock, time_ns, reference, shares):
    return head("X", stock, time_ns) + struct.pack(">QI", reference, shares)


def deleted(stock, time_ns, reference):
    return head("D", stock, time_ns) + struct.pack(">Q", reference)


def replaced(stock, time_ns, reference, by, shares, price):
    return head("U", stock, time_ns) + struct.pack(">QQII", reference, by, shares, price)


def of_no_order(stock, time_ns, symbol):
    """One of each type that changes no order."""
    return [
        head("H", stock, time_ns) + name(symbol) + b"T     ",
        head("Y", stock, time_ns) + name(symbol) + b"0",
        head("L", stock, time_ns) + b"MPID" + name(symbol) + b"YNA",
        head("V", 0, time_ns) + struct.pack(">QQQ", 1, 2, 3),
        head("W", 0, time_ns) + b"1",
        head("K", 0, time_ns) + name(symbol) + struct.pack(">IcI", 34_200, b"A", 100_000),
        head("J", stock, time_ns) + name(symbol) + struct.pack(">IIII", 1, 2, 3, 4),
        head("h", stock, time_ns) + name(symbol) + b"QH",
        head("P", stock, time_ns) + struct.pack(">QcI", 0, b"B", 100) + name(symbol)
        + struct.pack(">IQ", 100_000, 5),
        head("Q", stock, time_ns) + struct.pack(">Q", 100) + name(symbol)
        + struct.pack(">IQc", 100_000, 6, b"O"),
        head("B", stock, time_ns) + struct.pack(">Q", 5),
        head("I", stock, time_ns) + struct.pack(">QQc", 1, 2, b"B") + name(symbol)
        + struct.pack(">IIIcc", 1, 2, 3, b"O", b"L"),
        head("N", stock, time_ns) + name(symbol) + b"B",
        head("O", stock, time_ns) + name(symbol) + b"Y" + struct.pack(">IIIQII", 1, 2, 3, 4, 5, 6),
    ]


class Market:
    """Orders by reference, and the best price by a look at all of them."""

    def __init__(self, symbols, seed):
        self.chance = random.Random(seed)
        self.symbols = symbols
        self.orders = {}  # reference: [stock, side, shares, price]
        self.messages = [system_event(0, "O")]
        self.quotes = []  # (symbol, time, bid, ask, bid size, ask size)
        self.best = {}
        self.time_ns = 9 * 3600 * NS
        self.next_reference = 1 << 40
        self.prices = {}
        for stock, symbol in symbols.items():
            self.messages.append(directory(stock, 1, symbol))
            self.prices[stock] = self.chance.randrange(100_000, 3_000_000)

    def side_of(self, stock, side):
        """Price and size."""
        own = [order for order in self.orders.values() if order[:2] == [stock, side]]
        if not own:
            return 0, 0
        price = (max if side == "B" else min)(order[3] for order in own)
        return price, sum(order[2] for order in own if order[3] == price)

    def send(self, message, stock):
        self.messages.append(message)
        (bid, bid_size), (ask, ask_size) = self.side_of(stock, "B"), self.side_of(stock, "S")
        best = (bid, ask, bid_size, ask_size)
        if best != self.best.get(stock, (0, 0, 0, 0)):
            self.best[stock] = best
            if bid and ask:
                self.quotes.append((self.symbols[stock], self.time_ns, *best))

    def new_reference(self):
        self.next_reference += self.chance.randrange(1, 9)
        return self.next_reference

    def add_one(self, stock):
        side = self.chance.choice("BS")
        away = self.chance.randrange(1, 12) * 100
        price = self.prices[stock] + (-away if side == "B" else away)
        shares = self.chance.randrange(1, 500)
        reference = self.new_reference()
        self.orders[reference] = [stock, side, shares, price]
        kind = self.chance.choice([add, add_with_participant])
        self.send(kind(stock, self.time_ns, reference, side, shares, self.symbols[stock], price),
                  stock)

    def reduce_one(self, reference):
        order = self.orders[reference]
        stock, _, shares, price = order
        taken = self.chance.choice([shares, self.chance.randrange(1, shares + 1)])
        order[2] -= taken
        if order[2] == 0:
            del self.orders[reference]
        kind = self.chance.choice([executed, cancelled, executed_at])
        more = [price - 100] if kind is executed_at else []
        self.send(kind(stock, self.time_ns, reference, taken, *more), stock)

    def delete_one(self, reference):
        stock = self.orders.pop(reference)[0]
        self.send(deleted(stock, self.time_ns, reference), stock)

    def replace_one(self, reference):
        stock, side, shares, price = self.orders.pop(reference)
        by = self.new_reference()
        shares, price = shares + self.chance.randrange(100), price + self.chance.choice([-100, 100])
        self.orders[by] = [stock, side, shares, price]
        self.send(replaced(stock, self.time_ns, reference, by, shares, price), stock)

    def step(self):
        self.time_ns += self.chance.choice([0, 1, self.chance.randrange(3_000_000)])
        stock = self.chance.choice(list(self.symbols))
        self.prices[stock] += self.chance.choice([-100, 0, 100])
        if self.chance.random() < 0.02:
            self.messages += of_no_order(stock, self.time_ns, self.symbols[stock])
        if len(self.orders) < 12 * len(self.symbols) or self.chance.random() < 0.3:
            return self.add_one(stock)
        reference = self.chance.choice(list(self.orders))
        self.chance.choice([self.reduce_one, self.delete_one, self.replace_one])(reference)

    def file(self):
        return b"".join(map(framed, [*self.messages, system_event(self.time_ns, "C")]))

    def quotes_csv(self):
        rows = "".join(f"{symbol},{time},{bid / 1e4:.4f},{ask / 1e4:.4f},{bid_size},{ask_size}\n"
                       for symbol, time, bid, ask, bid_size, ask_size in self.quotes)
        return "symbol,time,bid,ask,bid_size,ask_size\n" + rows
