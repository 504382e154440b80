// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/random.h>

#include <strid/base/error.hpp>
#include <strid/engine/connector/random_name.hpp>

namespace strid::detail {

std::string random_name() {
    std::array<unsigned char, 16> bytes{};
    if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<::ssize_t>(bytes.size())) {
        throw InputOutputError("the system has no random numbers");
    }
    return fmt::format("{:02x}", fmt::join(bytes, ""));
}

}  // namespace strid::detail
