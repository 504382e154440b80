// SPDX-License-Identifier: Apache-2.0
//
// The parts of a run that no report has, as JSON for the page: snapshots and refused lines. Any
// thread.
#pragma once

#include <string>
#include <vector>

#include <strid/operator/refused_lines.hpp>

namespace strid::operate {

/// `taken`, false for a run without a folder of snapshots, and `snapshots`, oldest first, with
/// `number`, `taken_ms` since 1970, `file_bytes` and `state_bytes`. One that is removed meanwhile
/// is left out.
[[nodiscard]] std::string snapshots_json(const std::string& folder);

/// `lines`, oldest first, with `file`, `line`, `reason` and `text`, in which bytes that are no
/// printable text stand as \xNN.
[[nodiscard]] std::string refused_json(const std::vector<RefusedLine>& lines);

}  // namespace strid::operate
