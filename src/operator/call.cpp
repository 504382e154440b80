// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/base/hash.hpp>
#include <strid/operator/call.hpp>

namespace strid::operators {

namespace {

void check_not_negative(std::chrono::nanoseconds time, const char* name) {
    if (time.count() < 0) throw GraphError(fmt::format("call: .{} is negative", name));
}

}  // namespace

void check_call_options(const CallOptions& options) {
    if (options.in_flight == 0 || options.in_flight > calls_max) {
        throw GraphError(fmt::format("call: .in_flight is {}, and must be 1 to {}",
                                     options.in_flight, calls_max));
    }
    check_not_negative(options.timeout, "timeout");
    check_not_negative(options.backoff, "backoff");
    check_not_negative(options.backoff_max, "backoff_max");
}

std::int64_t backoff_ns(const CallOptions& options, std::size_t failures,
                        std::uint64_t record) noexcept {
    const std::int64_t most = options.backoff_max.count();
    std::int64_t wait = std::min(options.backoff.count(), most);
    for (std::size_t n = 1; n < failures && wait < most; ++n) {
        wait = wait > most / 2 ? most : 2 * wait;
        if (wait == 0) break;
    }
    constexpr std::uint64_t parts = 1024;
    const auto part = static_cast<std::int64_t>(hash_of(record + failures) % parts);
    return wait - wait / 4 / static_cast<std::int64_t>(parts) * part;
}

std::exception_ptr call_timed_out(const CallOptions& options) {
    const double seconds = std::chrono::duration<double>(options.timeout).count();
    return std::make_exception_ptr(
        Error(fmt::format("a call has not returned within {} s", seconds)));
}

}  // namespace strid::operators
