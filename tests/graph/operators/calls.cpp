// SPDX-License-Identifier: Apache-2.0
//
// The graph of the tests of `call`, compiled once for all of them.
#include "calls.hpp"

#include <chrono>
#include <thread>
#include <utility>

namespace strid::test {

Slow slow(std::function<std::uint64_t(std::uint64_t)> us_of, std::shared_ptr<Gauge> gauge) {
    return [us_of = std::move(us_of), gauge = std::move(gauge)](const std::uint64_t& n) {
        gauge->enter();
        if (const auto us = us_of(n); us != 0)
            std::this_thread::sleep_for(std::chrono::microseconds{us});
        gauge->leave();
        return answer_to(n);
    };
}

Numbers64 called(std::uint64_t count, Called f, const CallOptions& calls, const RunOptions& options,
                 RunReport* report, const OperatorOptions& named) {
    return called_as_it_is(count, std::move(f), calls, options, report, named);
}

}  // namespace strid::test
