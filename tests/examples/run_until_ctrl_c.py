# SPDX-License-Identifier: Apache-2.0
"""Runs examples/live_source until it has printed some readings, then stops it as Ctrl-C does.

The readings are numbered without a gap, each has the value that its number gives, the last line
counts and adds what stands above it, and the status is that of a program which SIGINT ended.

    run_until_ctrl_c.py PROGRAM FOLDER     FOLDER is not used: it is that of run_example.py
"""

import signal
import subprocess
import sys

READINGS = 5
TIMEOUT_S = 50
ENDED_BY_SIGINT = 128 + signal.SIGINT


def faults_of(lines: list[str], status: int) -> list[str]:
    """The faults of the printed lines and of the exit status."""
    readings = [tuple(map(int, line.split())) for line in lines[:-1]]
    expected = [(number, 100 + 7 * number % 30) for number in range(len(readings))]
    total = f"{len(readings)} readings, {sum(watts for _, watts in readings)} in all"
    faults = []
    if status != ENDED_BY_SIGINT:
        faults.append(f"exit status {status}, not {ENDED_BY_SIGINT}")
    if readings != expected:
        faults.append(f"readings {readings}, not {expected}")
    if lines[-1:] != [total + "\n"]:
        faults.append(f"the last line is {lines[-1:]}, not '{total}'")
    return faults


def main() -> int:
    with subprocess.Popen([sys.argv[1]], stdout=subprocess.PIPE, text=True) as program:
        try:
            lines = [program.stdout.readline() for _ in range(READINGS)]
            program.send_signal(signal.SIGINT)
            lines += program.stdout.readlines()
            program.wait(TIMEOUT_S)
        except BaseException:
            program.kill()
            raise
    faults = faults_of(lines, program.returncode)
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
