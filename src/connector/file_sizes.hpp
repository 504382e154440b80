// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace strid::detail {

/// 0 where one of them is no file.
[[nodiscard]] inline std::uint64_t size_of_all(const std::vector<std::string>& paths) {
    std::uint64_t bytes = 0;
    for (const std::string& path : paths) {
        std::error_code error;
        const auto size = std::filesystem::file_size(path, error);
        if (error) return 0;
        bytes += size;
    }
    return bytes;
}

}  // namespace strid::detail
