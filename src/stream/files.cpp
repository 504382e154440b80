// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <strid/engine/plan/plan.hpp>
#include <strid/stream/graph.hpp>

namespace strid {

std::vector<FileUse> graph::files_of(const Segments& segments) {
    std::vector<FileUse> files;
    for (const auto& segment : segments.all) {
        for (const OperatorInfo& op : segment->operators()) {
            for (const FileUse& use : op.files) {
                files.push_back(use);
                if (!use.user.empty()) continue;
                files.back().user = fmt::format("operator '{}'", op.name);
            }
        }
    }
    return files;
}

std::vector<FileUse> Graph::files() const {
    return graph::files_of(*segments_);
}

}  // namespace strid
