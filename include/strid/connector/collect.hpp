// SPDX-License-Identifier: Apache-2.0
//
// A sink that keeps every record, for tests and small results. A lock per record: any number of
// replicas may add while others read. Text that a record's fields point to (std::string_view, also
// in an optional, a pair, a tuple, a std::vector or an aggregate) is copied, so that a collected
// record outlives its batch.
#pragma once

#include <concepts>
#include <cstddef>
#include <deque>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/connector/fields.hpp>
#include <strid/engine/base/text_fields.hpp>

namespace strid {

/// The records that `collect` sinks have taken. Any thread.
template <class T>
class Collected {
  public:
    /// Adds a copy of `record` with a copy of its text. Takes a lock.
    void add(const T& record) {
        const std::scoped_lock lock(mutex_);
        records_.push_back(record);
        own_text(records_.back());
    }
    /// How many records there are so far.
    [[nodiscard]] std::size_t size() const {
        const std::scoped_lock lock(mutex_);
        return records_.size();
    }
    /// A copy of what was collected so far; its text lives as long as this object.
    [[nodiscard]] std::vector<T> records() const {
        const std::scoped_lock lock(mutex_);
        return records_;
    }

  private:
    template <class Value>
    void own_text(Value& value) {
        const auto own_each = [this](auto&... fields) { (this->own_text(fields), ...); };
        if constexpr (std::same_as<Value, std::string_view>) {
            if (!value.empty()) value = texts_.emplace_back(value);
        } else if constexpr (detail::is_optional<Value>) {
            if (value) own_text(*value);
        } else if constexpr (detail::is_tuple<Value>) {
            std::apply(own_each, value);
        } else if constexpr (points_to_text<Value> && requires { std::data(value); }) {
            for (auto& one : value) own_text(one);
        } else if constexpr (points_to_text<Value> && detail::has_members<Value>) {
            detail::visit_members(value, own_each);
        } else if constexpr (points_to_text<Value> && std::is_aggregate_v<Value>) {
            std::apply(own_each, boost::pfr::structure_tie(value));
        }
    }

    mutable std::mutex mutex_;
    std::vector<T> records_;         // under mutex_
    std::deque<std::string> texts_;  // under mutex_; never moves a string
};

/// The sink that `collect` makes; its replicas share one Collected.
template <class T>
class Collect {
  public:
    /// The sink adds its records to `into`.
    explicit Collect(std::shared_ptr<Collected<T>> into) : into_(std::move(into)) {}
    /// Keeps a copy of the record. Amortised O(1).
    void operator()(const T& record) const { into_->add(record); }

  private:
    std::shared_ptr<Collected<T>> into_;
};

/// Keeps every record in `into`.
template <class T>
[[nodiscard]] Collect<T> collect_into(std::shared_ptr<Collected<T>> into) {
    return Collect<T>(std::move(into));
}

}  // namespace strid
