// SPDX-License-Identifier: Apache-2.0
#include <strid/base/version.hpp>

namespace strid {

std::string_view library_version() noexcept {
    return version;
}

}  // namespace strid
