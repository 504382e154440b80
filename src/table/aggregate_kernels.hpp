// SPDX-License-Identifier: Apache-2.0
//
// The table of aggregates: what each function does with states of each type of values. Pure
// functions; any thread.
#pragma once

#include <cstddef>

#include <strid/state/bytes.hpp>

#include "aggregates.hpp"

namespace strid::table {

struct AggregateKernel {
    std::size_t bytes;  // of a state, a multiple of 8
    void (*add)(const RowsToAdd& rows, const Column* column, std::size_t offset);
    void (*combine)(std::byte* into, const std::byte* from);
    AggregateValue (*value)(const std::byte* state, Type type, double fraction);
    // Of states that own memory; null: they are bytes.
    void (*release)(std::byte* state) noexcept;
    void (*save)(StateWriter& writer, const std::byte* state);
    void (*load)(StateReader& reader, std::byte* state);
};

/// Of rows, whatever their values are.
[[nodiscard]] const AggregateKernel& counting_kernel() noexcept;
/// Of a function over values of a kind that it takes.
[[nodiscard]] const AggregateKernel& kernel_of(AggregateFunction function, Kind kind) noexcept;

}  // namespace strid::table
