# SPDX-License-Identifier: Apache-2.0
"""The fields of a request that the sequential exchange can follow, written from RULES.md."""

READ = {"11", "34", "35", "38", "40", "41", "44", "45", "49", "52", "54", "55", "56", "59"}
NOTED = set(
    "1 15 22 37 47 48 58 60 66 75 76 106 107 109 198 207 229 348 349 350 351 354 355 376 377 447 "
    "448 452 453 454 455 456 460 461 523 526 528 581 582 583 660 802 803".split()
)
USUAL = {"21": "1 2", "63": "0 1", "114": "N", "121": "N", "167": "CS", "423": "2", "854": "0"}


def unsupported(command):
    """The first field that the exchange cannot follow, or nothing."""
    for tag, text in command.items():
        if tag in USUAL:
            if text not in USUAL[tag].split():
                return f"tag {tag} is not supported with this value"
        elif tag not in READ | NOTED:
            return f"tag {tag} is not supported"
    return None


def other_data(command):
    """The code and the reason why a request asks for other market data than there are."""
    if command.get("263") == "1" and command.get("265", "1") != "1":
        return "6", "MDUpdateType (265) is not 1"
    if command.get("266", "Y") != "Y":
        return "7", "AggregatedBook (266) is not Y"
    return None
