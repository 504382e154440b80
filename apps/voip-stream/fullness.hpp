// SPDX-License-Identifier: Apache-2.0
//
// Says of filters how full they are, in counters of the operator that has them: `numbers`, as
// their cells tell, and `filters full`, those of shards with more in them than they are made for.
#pragma once

#include <cstdint>

#include <strid/operator/context.hpp>

namespace strid::apps::voip_stream {

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
    void tell(double entries) noexcept {
        entries_.add(static_cast<std::uint64_t>(entries + 0.5));
        if (entries > full_from * made_for_) full_.add();
    }

  private:
    Counter entries_;
    Counter full_;
    double made_for_ = 0;
};

}  // namespace strid::apps::voip_stream
