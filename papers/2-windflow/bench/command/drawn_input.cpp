// SPDX-License-Identifier: Apache-2.0
#include "drawn_input.hpp"

#include <fstream>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/connector/random.hpp>

#include "bench/hand/replay.hpp"

namespace strid::tool {

std::filesystem::path temporary_path(const std::string& name) {
    return std::filesystem::temp_directory_path() /
           fmt::format("strid-bench-{}-{}", ::getpid(), name);
}

void draw_lines(const std::string& from, std::size_t count, const std::filesystem::path& to) {
    const std::string text = bench::hand::read_file(from);
    const std::vector<std::string_view> lines = bench::hand::split_lines(text);
    if (lines.empty()) throw InputOutputError(from + " has no line to draw");
    std::ofstream file(to, std::ios::binary);
    Random random(1, 0);
    for (std::size_t i = 0; i != count; ++i) file << lines[random.below(lines.size())] << '\n';
    file.close();
    if (!file) throw InputOutputError(fmt::format("{}: cannot be written", to.string()));
}

}  // namespace strid::tool
