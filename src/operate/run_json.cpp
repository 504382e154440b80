// SPDX-License-Identifier: Apache-2.0
#include "run_json.hpp"

#include <cstdint>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/engine/base/excerpt.hpp>
#include <strid/engine/base/json_text.hpp>
#include <strid/state/snapshot_folder.hpp>

namespace strid::operate {

namespace {

constexpr std::int64_t ns_of_ms = 1'000'000;

/// Empty where it is gone.
std::string snapshot_json(const SnapshotFiles& files, std::uint64_t number) {
    try {
        const SnapshotDescription one = files.describe(number);
        return fmt::format(R"({{"number":{},"taken_ms":{},"file_bytes":{},"state_bytes":{}}})",
                           number, one.taken_ns / ns_of_ms, files.file_bytes(number),
                           one.state_bytes);
    } catch (const Error&) {
        return {};
    }
}

std::string cut(const std::string& text) {
    return json_text(excerpt(text, RefusedLines::text_bytes_max));
}

}  // namespace

std::string snapshots_json(const std::string& folder) {
    std::string list;
    if (!folder.empty()) {
        const SnapshotFiles files(folder);
        for (const std::uint64_t number : files.numbers()) {
            const std::string one = snapshot_json(files, number);
            if (!list.empty() && !one.empty()) list += ',';
            list += one;
        }
    }
    return fmt::format("{{\"taken\":{},\"snapshots\":[{}]}}\n", !folder.empty(), list);
}

std::string refused_json(const std::vector<RefusedLine>& lines) {
    std::string list;
    for (const RefusedLine& one : lines) {
        if (!list.empty()) list += ',';
        list += fmt::format(R"({{"file":{},"line":{},"reason":{},"text":{}}})", cut(one.file),
                            one.line, cut(one.reason), cut(one.text));
    }
    return fmt::format("{{\"lines\":[{}]}}\n", list);
}

}  // namespace strid::operate
