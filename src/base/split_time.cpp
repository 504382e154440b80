// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/base/split_time.hpp>

namespace strid::detail {

void throw_no_such_split(std::size_t index, std::size_t splits) {
    throw Error(
        fmt::format("SplitTime: a record of split {}, of {} that there are", index, splits));
}

}  // namespace strid::detail
