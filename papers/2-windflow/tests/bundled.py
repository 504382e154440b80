# SPDX-License-Identifier: Apache-2.0
"""The bundled inputs of the applications, which the tests share."""

from command_line import SOURCE

PAPER = SOURCE / "papers/2-windflow"
TEXT = PAPER / "word-count/data/opticks.txt"
READINGS = PAPER / "spike-detection/data/readings.csv"
TRANSACTIONS = PAPER / "fraud-detection/data/transactions.csv"
MODEL = PAPER / "fraud-detection/data/model.txt"
EVENTS = PAPER / "yahoo-benchmark/data/events.csv"
CAMPAIGNS = PAPER / "yahoo-benchmark/data/campaigns.csv"
FLIGHTS = SOURCE / "apps/flights"
