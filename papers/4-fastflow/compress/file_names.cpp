// SPDX-License-Identifier: Apache-2.0
#include "file_names.hpp"

#include <array>
#include <utility>

namespace strid::compress {

namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> suffixes{
    {{".bz2", ""}, {".bz", ""}, {".tbz2", ".tar"}, {".tbz", ".tar"}}};

}  // namespace

std::string_view compressed_suffix(std::string_view path) noexcept {
    for (const auto& [suffix, original] : suffixes) {
        if (path.ends_with(suffix)) return suffix;
    }
    return {};
}

std::string output_name(const std::string& path, Direction direction) {
    if (direction == Direction::compress) return path + ".bz2";
    for (const auto& [suffix, original] : suffixes) {
        if (!path.ends_with(suffix)) continue;
        return path.substr(0, path.size() - suffix.size()) + std::string(original);
    }
    return path + ".out";
}

}  // namespace strid::compress
