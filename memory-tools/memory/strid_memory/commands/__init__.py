# SPDX-License-Identifier: Apache-2.0
"""The commands of `strid memory`, a module each: `add_options(parser)`, `run(options) -> status`.

The first line of a module's docstring is its help. A command imports other packages in run():
`--help` needs nothing.
"""
