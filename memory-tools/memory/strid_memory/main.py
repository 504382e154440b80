# SPDX-License-Identifier: Apache-2.0
"""The command line of `strid memory`: finds the command and runs it."""

import argparse
import importlib
import pkgutil
import signal
import sys

import strid_memory.commands
from strid_memory.errors import MemoryToolError, UsageError


class Parser(argparse.ArgumentParser):
    """Errors are one line, as those of the other programs."""

    def error(self, message: str):
        raise UsageError(message)


def parser() -> argparse.ArgumentParser:
    top = Parser(
        prog="strid memory", description="Which allocator and which layout for a program."
    )
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for found in pkgutil.iter_modules(strid_memory.commands.__path__):
        name = found.name
        module = importlib.import_module(f"strid_memory.commands.{name}")
        text = module.__doc__ or ""
        command = commands.add_parser(
            name,
            help=text.partition("\n")[0],
            description=text,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_options(command)
        command.set_defaults(run=module.run)
    return top


def main(arguments: list[str]) -> int:
    try:
        options = parser().parse_args(arguments)
        return options.run(options)
    except MemoryToolError as error:
        print(f"strid: error: {error}", file=sys.stderr)
        return error.status
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
