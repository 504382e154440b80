// SPDX-License-Identifier: Apache-2.0
//
// Everything that an application needs.
#pragma once

#include <strid/base/split_time.hpp>
#include <strid/base/version.hpp>
#include <strid/connector/connector.hpp>
#include <strid/graph/graph.hpp>
#include <strid/graph/main.hpp>
#include <strid/graph/program.hpp>
#include <strid/operator/aligned.hpp>
#include <strid/operator/dead_letter.hpp>
#include <strid/operator/deduplicate.hpp>
#include <strid/operator/time_order.hpp>
