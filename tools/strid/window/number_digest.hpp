// SPDX-License-Identifier: Apache-2.0
//
// The quantiles of a column of numbers: a sketch of doubles, and from the first integer on that a
// double has no room for one of long doubles, whose 64 bits have room for every integer of a table.
//
// Threads: as any state of an aggregate.
#pragma once

#include <string>
#include <tuple>
#include <variant>

#include <strid/window/aggregates/t_digest.hpp>

#include "table_number.hpp"

namespace strid::tool {

class NumberDigest {
    using Doubles = window::TDigest;
    using LongDoubles = window::BasicTDigest<long double>;

  public:
    void add(const TableNumber& number) {
        if (needs_room(number)) widen();
        if (auto* const doubles = std::get_if<Doubles>(&digest_)) {
            doubles->add(decimal_of(number));
        } else {
            std::get<LongDoubles>(digest_).add(number.kind == ValueKind::decimal
                                                   ? static_cast<long double>(number.value.decimal)
                                                   : static_cast<long double>(integer_of(number)));
        }
    }
    void merge(const NumberDigest& newer) {
        if (std::holds_alternative<LongDoubles>(newer.digest_)) widen();
        if (auto* const doubles = std::get_if<Doubles>(&digest_)) {
            doubles->merge(std::get<Doubles>(newer.digest_));
        } else if (const auto* const others = std::get_if<Doubles>(&newer.digest_)) {
            std::get<LongDoubles>(digest_).merge(LongDoubles(*others));
        } else {
            std::get<LongDoubles>(digest_).merge(std::get<LongDoubles>(newer.digest_));
        }
    }
    /// Nothing where there are no values.
    void append(std::string& out, double q) const {
        if (const auto* const doubles = std::get_if<Doubles>(&digest_)) {
            if (doubles->count() != 0) detail::append_csv_value(out, doubles->quantile(q), ',');
        } else {
            append_exactly(out, std::get<LongDoubles>(digest_).quantile(q));
        }
    }
    /// As strid/state/codec.hpp says.
    auto state() { return std::tie(digest_); }

  private:
    [[nodiscard]] static bool needs_room(const TableNumber& number) noexcept {
        constexpr WideInteger exact_max = WideInteger{1} << 53;
        if (number.kind == ValueKind::decimal) return false;
        const WideInteger integer = integer_of(number);
        return integer > exact_max || integer < -exact_max;
    }
    void widen() {
        if (const auto* const doubles = std::get_if<Doubles>(&digest_)) {
            digest_ = LongDoubles(*doubles);
        }
    }

    std::variant<Doubles, LongDoubles> digest_;
};

}  // namespace strid::tool
