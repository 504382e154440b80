// SPDX-License-Identifier: Apache-2.0
//
// A sink that keeps every record, for tests and small results. A lock per record: any number of
// replicas may add while others read. Text that a record's fields point to (std::string_view, also
// in an optional, a pair or a tuple) is copied, so that a collected record outlives its batch.
#pragma once

#include <concepts>
#include <cstddef>
#include <deque>
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

namespace strid {

namespace detail {

struct AnyProbe {
    std::size_t index;
    template <class T>
    constexpr operator T&() const& noexcept;
};
struct ViewProbe {
    operator std::string_view() const noexcept;
};

template <class T, std::size_t... before>
constexpr bool takes_view(std::index_sequence<before...>) {
    return requires { T{AnyProbe{before}..., ViewProbe{}}; };
}
template <class T, std::size_t... before>
constexpr bool takes_any(std::index_sequence<before...>) {
    return requires { T{AnyProbe{before}...}; };
}

/// Whether one of the first fields of an aggregate is text. Found by trying, because an aggregate
/// with arrays, which has none, cannot be taken apart.
template <class T, std::size_t index = 0>
constexpr bool has_view_field() {
    constexpr std::size_t index_max = 64;
    if constexpr (takes_view<T>(std::make_index_sequence<index>{})) {
        return true;
    } else if constexpr (index < index_max && takes_any<T>(std::make_index_sequence<index + 1>{})) {
        return has_view_field<T, index + 1>();
    } else {
        return false;
    }
}

}  // namespace detail

template <class T>
class Collected {
  public:
    void add(const T& record) {
        const std::scoped_lock lock(mutex_);
        records_.push_back(record);
        own_text(records_.back());
    }
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
        } else if constexpr (std::is_aggregate_v<Value> && std::is_class_v<Value>) {
            if constexpr (detail::has_view_field<Value>()) {
                std::apply(own_each, boost::pfr::structure_tie(value));
            }
        }
    }

    mutable std::mutex mutex_;
    std::vector<T> records_;         // under mutex_
    std::deque<std::string> texts_;  // under mutex_; never moves a string
};

template <class T>
class Collect {
  public:
    explicit Collect(std::shared_ptr<Collected<T>> into) : into_(std::move(into)) {}
    void operator()(const T& record) { into_->add(record); }

  private:
    std::shared_ptr<Collected<T>> into_;
};

/// Keeps every record in `into`.
template <class T>
[[nodiscard]] Collect<T> collect_into(std::shared_ptr<Collected<T>> into) {
    return Collect<T>(std::move(into));
}

}  // namespace strid
