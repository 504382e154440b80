// SPDX-License-Identifier: Apache-2.0
//
// Includes the sources and sinks of most graphs. Two more are included by name: callback.hpp, for a
// function that returns records, and generator.hpp, for a coroutine that yields them.
#pragma once

#include <strid/connector/collect.hpp>
#include <strid/connector/csv_file.hpp>
#include <strid/connector/csv_writer.hpp>
#include <strid/connector/discard.hpp>
#include <strid/connector/generate.hpp>
#include <strid/connector/json_lines.hpp>
#include <strid/connector/paced.hpp>
#include <strid/connector/replay.hpp>
#include <strid/connector/table_file.hpp>
#include <strid/connector/text_lines.hpp>
#include <strid/connector/text_writer.hpp>
