// SPDX-License-Identifier: Apache-2.0
//
// Everything that an application needs.
#pragma once

#include <strid/base/cplusplus.hpp>
#include <strid/base/split_time.hpp>
#include <strid/base/version.hpp>
#include <strid/connector/connector.hpp>
#include <strid/operator/aligned.hpp>
#include <strid/operator/deduplicate.hpp>
#include <strid/operator/time_order.hpp>
#include <strid/program/main.hpp>
#include <strid/program/program.hpp>
#include <strid/stream/dead_letter.hpp>
#include <strid/stream/graph.hpp>
