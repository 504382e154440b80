#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes opticks.txt from the text in Debian's package golang-1.19-src.

    apt-get download golang-1.19-src && dpkg -x golang-1.19-src_*.deb unpacked
    cd unpacked/usr/share/go-1.19/src/testdata
    python3 prepare.py Isaac.Newton-Opticks.txt > opticks.txt

One paragraph becomes one line, punctuation and the marks of italics go, words stand one space
apart. The first 400 paragraphs are kept.
"""
import re
import sys

PARAGRAPHS = 400


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    text = text[text.index("SIR ISAAC NEWTON'S ADVERTISEMENTS"):]
    lines = []
    for paragraph in re.split(r"\n\s*\n", text):
        words = re.sub(r"[^\w'-]|_", " ", paragraph).split()
        words = [word.strip("'-") for word in words]
        line = " ".join(word for word in words if word)
        if line:
            lines.append(line)
    sys.stdout.write("\n".join(lines[:PARAGRAPHS]) + "\n")


if __name__ == "__main__":
    main()
