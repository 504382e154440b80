// SPDX-License-Identifier: Apache-2.0
//
// Kernels: the loops that compute one operation for the rows of a chunk. A kernel knows nothing of
// NULL: it computes every row that it is given, whatever stands there, and its caller takes the
// bits of both sides together. So the loops have no branches, and the compiler makes vector
// instructions of them.
//
// A kernel whose operation can have a fault returns whether any row had one, NULLs included. That
// is rare; then the caller asks for the fault of each row that counts.
//
// Each operation has four loops: for all rows of a chunk, where both sides are vectors, or one of
// them is a constant; and for the rows of a list. Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>

#include <strid/table/schema.hpp>

#include "expression_node.hpp"

namespace strid::table::detail {

/// The rows to be computed: the first `count`, or those of an ascending list.
struct Selection {
    const std::uint16_t* rows = nullptr;  // null: all up to count
    std::size_t count = 0;

    /// Calls `visit(row)` for each.
    template <class Visit>
    void each(Visit&& visit) const {
        if (rows == nullptr) {
            for (std::size_t row = 0; row != count; ++row) visit(row);
        } else {
            for (std::size_t i = 0; i != count; ++i) visit(std::size_t{rows[i]});
        }
    }
};

/// For all rows up to `count`; a constant is one value.
using DenseKernel = bool (*)(const void* a, const void* b, void* to, std::size_t count);
/// For the rows of a list; the step of a constant is 0, and else 1.
using ListedKernel = bool (*)(const void* a, std::size_t a_step, const void* b, std::size_t b_step,
                              void* to, const std::uint16_t* rows, std::size_t count);
/// The fault of two values; null: there is none.
using FaultOf = const char* (*)(const void* a, const void* b);

struct Kernels {
    DenseKernel vectors = nullptr;
    DenseKernel constant_left = nullptr;
    DenseKernel constant_right = nullptr;
    ListedKernel listed = nullptr;
    FaultOf fault_of = nullptr;   // null: there are no faults
    std::size_t value_bytes = 8;  // of both sides
};

/// Those of `operation` for two values of this kind. No kernels: there are none.
[[nodiscard]] Kernels kernels_for(Operation operation, Kind kind) noexcept;

}  // namespace strid::table::detail
