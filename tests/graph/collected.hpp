// SPDX-License-Identifier: Apache-2.0
//
// The records that the sinks of a graph took, for comparison with the obvious computation.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "test_sources.hpp"

namespace strid::test {

/// A sink with shared state that is safe to replicate.
template <class T>
struct Collect {
    static constexpr FunctionTraits traits{
        .hears = events<>, .parallel_by_default = true, .stateless = true};

    std::shared_ptr<Collection<T>> into;
    void operator()(const T& value) const { into->add(value); }
};

template <class T>
struct Collected {
    std::shared_ptr<Collection<T>> values = std::make_shared<Collection<T>>();
    [[nodiscard]] Collect<T> sink() const { return {values}; }
    [[nodiscard]] std::vector<T> sorted() const {
        auto result = values->take();
        std::sort(result.begin(), result.end());
        return result;
    }
};

}  // namespace strid::test
