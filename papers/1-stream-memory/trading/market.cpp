// SPDX-License-Identifier: Apache-2.0
#include "market.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include <strid/state/codec.hpp>

namespace strid::apps::trading {

Market::Market(unsigned decimals, std::int64_t unit_ns)
    : decimals_(decimals),
      ticks_per_unit_(std::pow(10.0, decimals)),
      notation_{.unit_ns = unit_ns} {}

std::uint64_t Market::add_symbol(std::string_view name) {
    const std::lock_guard lock(mutex_);
    names_.emplace_back(name);
    return names_.size() - 1;
}

std::string_view Market::name_of(std::uint64_t symbol) const {
    const std::lock_guard lock(mutex_);
    return names_[symbol];
}

void Market::save(StateWriter& writer) const {
    const std::scoped_lock lock(mutex_);
    state::save(writer, names_);
    state::save(writer, form_);
}

void Market::load(StateReader& reader) {
    const std::scoped_lock lock(mutex_);
    state::load(reader, names_);
    state::load(reader, form_);
}

void Market::note_time_form(TimeForm form) {
    // A fraction where one is needed, whatever the first time has.
    if (form.kind == TimeForm::Kind::integer) form.kind = TimeForm::Kind::decimal;
    const std::lock_guard lock(mutex_);
    form_ = form;
}

void Market::append_time(std::string& row, EventTime time) const {
    TimeForm form;
    {
        const std::lock_guard lock(mutex_);
        form = form_;
    }
    strid::append_time(row, time, form, notation_);
}

void Market::append_price(std::string& row, std::int64_t ticks) const {
    std::string digits = fmt::format("{:0>{}}", ticks, decimals_ + 1);
    const std::string_view all = digits;
    std::string_view fraction = all.substr(all.size() - decimals_);
    fraction = fraction.substr(0, fraction.find_last_not_of('0') + 1);
    row += all.substr(0, all.size() - decimals_);
    if (!fraction.empty()) fmt::format_to(std::back_inserter(row), ".{}", fraction);
}

bool read_ticks(std::string_view text, unsigned decimals, std::int64_t& ticks) noexcept {
    std::int64_t value = 0;
    bool has_point = false;
    unsigned places = 0;
    std::size_t digits = 0;
    for (const char c : text) {
        if (c == '.' && !has_point) {
            has_point = true;
            continue;
        }
        if (c < '0' || c > '9') return false;
        ++digits;
        if (has_point && places == decimals) {
            if (c != '0') return false;
            continue;
        }
        value = value * 10 + (c - '0');
        places += has_point ? 1 : 0;
        if (value > ticks_max) return false;
    }
    if (digits == 0) return false;
    for (; places != decimals; ++places) {
        value *= 10;
        if (value > ticks_max) return false;
    }
    ticks = value;
    return true;
}

}  // namespace strid::apps::trading
