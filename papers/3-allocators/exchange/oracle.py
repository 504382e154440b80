#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A plain sequential exchange: the oracle of the data manager, written from the rules in README.md.

It reads commands, one a line, as the fields of a FIX message with bars between them, and prints
each report so, then the books and the positions as `strid-exchange-data --check` does:

    oracle.py COMMANDS [--symbols FILE]

    35=D|34=1|49=alice|11=a1|55=ACME|54=1|38=100|40=2|44=12.5

Everything is a list that is searched from its beginning, and money is a Fraction: slow, and easy
to read beside the rules. Nothing here is shared with the programs.
"""

import argparse
import fractions
import re
import sys

from oracle_instructions import other_data, unsupported
from oracle_numbers import average, decimal, price_of, quantity_of

DEPTH = re.compile(r"[0-9]+")
SYMBOL = re.compile(r"[!-~]{1,16}")
IDENTIFIER = re.compile(r"[ -~]{1,64}")
OPEN = ("0", "1")


class Refused(Exception):
    """A command that is not carried out: the reason's code and its text."""


class Order:
    """One that was accepted."""

    def __init__(self, number, command):
        self.number = number
        self.queued = number
        self.user = command["49"]
        self.name = command["11"]
        self.symbol = command["55"]
        self.side = command["54"]
        self.market = command["40"] == "1"
        self.life = command.get("59", "0")
        self.quantity = quantity_of(command.get("38"))
        self.price = None if self.market else price_of(command.get("44"))
        self.filled = 0
        self.money = fractions.Fraction(0)
        self.status = "0"

    @property
    def left(self):
        """The quantity that can still trade."""
        return self.quantity - self.filled if self.status in OPEN else 0


class Exchange:
    """All books, one command after the other."""

    def __init__(self, symbols=None):
        self.symbols = symbols
        self.named = {}  # (user, symbol, ClOrdID): the order that has this name now
        self.waiting = []  # the orders that can trade, in no order
        self.used = set()  # (user, symbol, ClOrdID)
        self.subscriptions = []  # [user, symbol, request, depth], in the order of the commands
        self.positions = {}  # (user, symbol): [shares, money]
        self.reports = []
        self.trades = 0

    # ---- reports -------------------------------------------------------------------------------

    def say(self, kind, user, fields):
        """Appends a report: a list of (tag, text)."""
        number = len(self.reports) + 1
        head = [("35", kind), ("34", str(number)), ("49", "DATA"), ("56", user)]
        self.reports.append(head + [(tag, text[:64]) for tag, text in fields if text])

    def execution(self, order, kind, name=None, original="", last=None, why=""):
        """An ExecutionReport of an accepted order."""
        self.executions += 1
        fields = [
            ("37", str(order.number)),
            ("11", name or order.name),
            ("41", original),
            ("17", f"{self.number}-{self.executions}"),
            ("150", kind),
            ("39", order.status),
            ("55", order.symbol),
            ("54", order.side),
            ("38", str(order.quantity)),
            ("44", "" if order.market else decimal(order.price)),
        ]
        if last:
            fields += [("32", str(last[0])), ("31", decimal(last[1]))]
        fields += [
            ("151", str(order.left)),
            ("14", str(order.filled)),
            ("6", average(order.money, order.filled)),
            ("58", why),
        ]
        self.say("8", order.user, fields)

    # ---- commands ------------------------------------------------------------------------------

    def handle(self, command):
        """Carries out one command: a dictionary from tag to text."""
        self.number = int(command["34"])
        self.executions = 0
        kind = command["35"]
        user = command["49"]
        symbol = command.get("55", "")
        if kind not in ("D", "F", "G", "V"):
            fields = [("45", command.get("45", "")), ("372", kind), ("380", "3")]
            self.say("j", user, fields + [("58", "messages of this type are not taken")])
            return
        before = self.views(symbol)
        try:
            if not IDENTIFIER.fullmatch(user):
                raise Refused("99", "the user is not 1 to 64 characters of ASCII")
            if not symbol:
                raise Refused("1", "Symbol (55) is missing")
            if not SYMBOL.fullmatch(symbol):
                raise Refused("1", "not a symbol")
            if self.symbols is not None and symbol not in self.symbols:
                raise Refused("1", "unknown symbol")
            carry_out = {"D": self.new, "F": self.cancel, "G": self.replace, "V": self.watch}
            carry_out[kind](command)
        except Refused as refused:
            self.refuse(command, *refused.args)
        if kind != "V":
            self.tell_watchers(symbol, before)
        self.waiting = [order for order in self.waiting if order.left]

    def refuse(self, command, code, why, order=None):
        """The report of a command that is not carried out."""
        user = command["49"]
        if command["35"] == "D":
            self.executions += 1
            fields = [("37", "NONE"), ("11", command.get("11", ""))]
            fields += [("17", f"{self.number}-{self.executions}"), ("150", "8"), ("39", "8")]
            fields += [(tag, command.get(tag, "")) for tag in ("55", "54", "38", "44")]
            fields += [("151", "0"), ("14", "0"), ("6", "0"), ("103", code), ("58", why)]
            self.say("8", user, fields)
        elif command["35"] == "V":
            # A wrong symbol has the code 0 here.
            code = "0" if "ymbol" in why else "3" if code == "99" else code
            name = command.get("262") or "NONE"
            self.say("Y", user, [("262", name), ("281", code), ("58", why)])
        else:
            fields = [("37", str(order.number) if order else "NONE")]
            fields += [("11", command.get("11", "")), ("41", command.get("41", ""))]
            fields += [("39", order.status if order else "8")]
            fields += [("434", "1" if command["35"] == "F" else "2"), ("102", code), ("58", why)]
            self.say("9", user, fields)

    def new(self, command):
        """NewOrderSingle."""
        if not IDENTIFIER.fullmatch(command.get("11", "")):
            raise Refused("99", "ClOrdID (11) is not 1 to 64 characters of ASCII")
        if command.get("54") not in ("1", "2"):
            raise Refused("11", "Side (54) is none of 1, 2")
        if command.get("40") not in ("1", "2"):
            raise Refused("11", "OrdType (40) is none of 1, 2")
        if command.get("59", "0") not in ("0", "3", "4"):
            raise Refused("11", "TimeInForce (59) is none of 0, 3, 4")
        if why := unsupported(command):
            raise Refused("11", why)
        if quantity_of(command.get("38")) is None:
            raise Refused("13", "OrderQty (38) is no whole number from 1 to 1000000")
        if command["40"] == "1" and "44" in command:
            raise Refused("11", "Price (44) of a market order")
        if command["40"] == "2" and price_of(command.get("44")) is None:
            raise Refused("99", "Price (44) is not above 0 and at most 100000 with 4 decimals")
        if (command["49"], command["55"], command["11"]) in self.used:
            raise Refused("6", "ClOrdID (11) was used before")
        order = Order(self.number, command)
        name = (order.user, order.symbol, order.name)
        self.used.add(name)
        self.named[name] = order
        self.execution(order, "0")
        available = sum(other.left for other in self.facing(order))
        if order.life == "4" and available < order.quantity:
            self.kill(order, "cannot be filled at once")
        else:
            self.match(order)
        self.waiting.append(order)

    def facing(self, order):
        """The waiting orders that it can trade with, best first."""
        waiting = [
            other
            for other in self.waiting
            if other.symbol == order.symbol and other.side != order.side and other.left
        ]
        sign = 1 if order.side == "1" else -1
        if not order.market:
            waiting = [other for other in waiting if sign * other.price <= sign * order.price]
        return sorted(waiting, key=lambda other: (sign * other.price, other.queued))

    def match(self, order):
        """Trades; then it waits, or what is left is cancelled."""
        for other in self.facing(order):
            if not order.left:
                break
            quantity = min(order.left, other.left)
            for one in (order, other):
                one.filled += quantity
                one.money += quantity * other.price
                one.status = "2" if one.filled == one.quantity else "1"
                sign = 1 if one.side == "1" else -1
                position = self.positions.setdefault((one.user, one.symbol), [0, 0])
                position[0] += sign * quantity
                position[1] -= sign * quantity * other.price
                self.execution(one, "F", last=(quantity, other.price))
            self.trades += 1
        if order.left and (order.market or order.life != "0"):
            self.kill(order, "nothing more to trade with")

    def kill(self, order, why):
        """The rest of it is cancelled."""
        order.status = "4"
        self.execution(order, "4", why=why)

    def find(self, command):
        """The open order that a cancel or a replace is about."""
        if not IDENTIFIER.fullmatch(command.get("11", "")):
            raise Refused("99", "ClOrdID (11) is not 1 to 64 characters of ASCII")
        order = self.named.get((command["49"], command["55"], command.get("41", "")))
        if order is None:
            raise Refused("1", "no such order")
        if order.status not in OPEN:
            raise Refused("0", "the order is done", order)
        if why := unsupported(command):
            raise Refused("99", why, order)
        return order

    def cancel(self, command):
        """OrderCancelRequest."""
        order = self.find(command)
        order.status = "4"
        self.execution(order, "4", name=command["11"], original=command["41"])

    def replace(self, command):
        """OrderCancelReplaceRequest."""
        order = self.find(command)
        if (command["49"], command["55"], command["11"]) in self.used:
            raise Refused("6", "ClOrdID (11) was used before", order)
        if command.get("54", order.side) != order.side:
            raise Refused("99", "Side (54) cannot change", order)
        if command.get("40", "2") != "2":
            raise Refused("99", "OrdType (40) cannot change", order)
        if command.get("59", "0") != "0":
            raise Refused("99", "TimeInForce (59) cannot change", order)
        quantity = quantity_of(command.get("38"))
        if quantity is None:
            raise Refused("99", "OrderQty (38) is no whole number from 1 to 1000000", order)
        if quantity <= order.filled:
            raise Refused("99", "OrderQty (38) is not above what is filled", order)
        price = price_of(command.get("44"))
        if price is None:
            why = "Price (44) is not above 0 and at most 100000 with 4 decimals"
            raise Refused("99", why, order)
        stays = price == order.price and quantity <= order.quantity
        del self.named[order.user, order.symbol, order.name]
        order.quantity, order.price, order.name = quantity, price, command["11"]
        self.used.add((order.user, order.symbol, order.name))
        self.named[order.user, order.symbol, order.name] = order
        self.execution(order, "5", original=command["41"])
        if not stays:
            order.queued = self.number
            self.match(order)

    # ---- market data ---------------------------------------------------------------------------

    def view(self, symbol, side, depth):
        """The best levels of a side: a list of (price, quantity)."""
        levels = {}
        for order in self.waiting:
            if order.symbol == symbol and order.side == side and order.left:
                levels[order.price] = levels.get(order.price, 0) + order.left
        best = sorted(levels.items(), reverse=side == "1")
        return best[:depth]

    def views(self, symbol):
        """Both sides for each subscription of the symbol."""
        return [
            [self.view(symbol, side, depth) for side in "12"]
            for _, of, _, depth in self.subscriptions
            if of == symbol
        ]

    def watch(self, command):
        """MarketDataRequest."""
        user, symbol, request = command["49"], command["55"], command.get("262", "")
        depth = command.get("264", "1")
        if not IDENTIFIER.fullmatch(request):
            raise Refused("1", "MDReqID (262) is not 1 to 64 characters of ASCII")
        if not DEPTH.fullmatch(depth) or int(depth) > 250:
            raise Refused("5", "MarketDepth (264) is no whole number from 0 to 250")
        depth = int(depth) or 250
        if why := other_data(command):
            raise Refused(*why)
        wish = command.get("263", "")
        if wish not in ("0", "1", "2"):
            raise Refused("4", "SubscriptionRequestType (263) is none of 0, 1, 2")
        others = [one for one in self.subscriptions if one[:2] != [user, symbol]]
        if wish == "2":
            if len(others) == len(self.subscriptions):
                raise Refused("1", "there is no subscription")
            self.subscriptions = others
            return
        if wish == "1":
            self.subscriptions = others + [[user, symbol, request, depth]]
        bids, offers = (self.view(symbol, side, depth) for side in "12")
        fields = [("262", request), ("55", symbol), ("268", str(len(bids) + len(offers)))]
        for side, levels in (("0", bids), ("1", offers)):
            for price, quantity in levels:
                fields += [("269", side), ("270", decimal(price)), ("271", str(quantity))]
        self.say("W", user, fields)

    def tell_watchers(self, symbol, before):
        """The changes for each subscription."""
        watched = [one for one in self.subscriptions if one[1] == symbol]
        for (user, _, request, _), old, new in zip(watched, before, self.views(symbol)):
            entries = []
            for side, was, now in zip("01", old, new):
                now_at, was_at = dict(now), dict(was)
                for price, _ in was:
                    if price not in now_at:
                        entries.append((("279", "2"), ("269", side), ("270", decimal(price))))
                for price, quantity in now:
                    if was_at.get(price) != quantity:
                        action = "1" if price in was_at else "0"
                        entry = (("279", action), ("269", side), ("270", decimal(price)))
                        entries.append(entry + (("271", str(quantity)),))
            if entries:
                fields = [("262", request), ("268", str(len(entries)))]
                for entry in entries:
                    fields += [entry[0], ("55", symbol), *entry[1:]]
                self.say("X", user, fields)

    # ---- the end -------------------------------------------------------------------------------

    def summary(self):
        """Books and positions, as lines."""
        lines = []
        for symbol in sorted({order.symbol for order in self.waiting}):
            for side, word in (("1", "buy"), ("2", "sell")):
                sign = -1 if side == "1" else 1
                waiting = [
                    order
                    for order in self.waiting
                    if order.symbol == symbol and order.side == side
                ]
                for order in sorted(waiting, key=lambda one: (sign * one.price, one.queued)):
                    words = [symbol, word, decimal(order.price), order.left, order.number]
                    lines.append("\t".join(map(str, ["order", *words, order.user, order.name])))
        sums = {}
        for (user, symbol), (shares, money) in sorted(self.positions.items()):
            lines.append(f"position\t{user}\t{symbol}\t{shares}\t{decimal(money)}")
            total = sums.setdefault(symbol, [0, 0])
            total[0] += shares
            total[1] += money
        for symbol, (shares, money) in sorted(sums.items()):
            lines.append(f"sum\t{symbol}\t{shares}\t{decimal(money)}")
        return lines


def read_command(line):
    """The fields of a line; the first of each tag counts."""
    fields = {}
    for field in line.split("|"):
        tag, _, text = field.partition("=")
        fields.setdefault(tag, text)
    return fields


def main():
    """Commands from a file to reports on standard output."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commands")
    parser.add_argument("--symbols", help="a file: one symbol a line")
    arguments = parser.parse_args()
    symbols = None
    if arguments.symbols:
        with open(arguments.symbols, encoding="utf-8") as file:
            symbols = set(file.read().split())
    exchange = Exchange(symbols)
    with open(arguments.commands, encoding="utf-8") as file:
        for line in file:
            exchange.handle(read_command(line.rstrip("\n")))
    for report in exchange.reports:
        print("|".join(f"{tag}={text}" for tag, text in report))
    print("\n".join(exchange.summary()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
