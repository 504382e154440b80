// SPDX-License-Identifier: Apache-2.0
//
// Says of filters how full they are, in counters of the operator that has them: their entries, as
// their cells show, and `filters full`, those of shards with more in them than they are made for.
// One thread at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <strid/operator/context.hpp>

namespace strid::apps::voip_stream {

/// The share of the cells or bits of a filter that is free. Where none is, it is as if half of one
/// were: the filter may have any number of entries from there on.
inline double free_share(std::size_t used, std::size_t all) noexcept {
    return std::max(static_cast<double>(all - used), 0.5) / static_cast<double>(all);
}

/// The chance of shards to have more than their part is left room for.
inline constexpr double full_from = 1.25;

class Fullness {
  public:
    /// `what`: the entries.
    void open(const Context& context, std::string_view what, double made_for) {
        entries_ = context.counter(what);
        full_ = context.counter("filters full");
        made_for_ = made_for;
    }
    /// A filter with about so many entries, when the stream is over.
    void add(double entries) noexcept {
        entries_.add(static_cast<std::uint64_t>(entries + 0.5));
        if (entries > full_from * made_for_) full_.add();
    }

  private:
    Counter entries_;
    Counter full_;
    double made_for_ = 0;
};

}  // namespace strid::apps::voip_stream
