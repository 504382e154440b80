// SPDX-License-Identifier: Apache-2.0
//
// The smallest source, for the programs that show what a graph refuses to compile.
#pragma once

#include <cstddef>

#include <strid/stream/graph.hpp>

struct Numbers {
    using record_type = int;
    static constexpr strid::SourceTraits traits{.hears = strid::events<>};
    template <class Emit>
    strid::SourceStatus poll(Emit& emit, std::size_t) {
        emit(1);
        return strid::SourceStatus::finished;
    }
};
