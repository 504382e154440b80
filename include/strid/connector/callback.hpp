// SPDX-License-Identifier: Apache-2.0
//
// A source that calls a function for each record, until it returns none:
//
//     graph.source(from_callback([reader]() -> std::optional<Reading> { return reader->next(); }))
//
// Each replica calls a copy of the function (connector/pulled.hpp), as often as there is room for
// records. For a source that has no record for a while without being at its end, use a coroutine
// (connector/generator.hpp). An exception ends the run as an OperatorError that names the source.
//
// Threads: a replica's function is called by one thread at a time.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <tuple>
#include <utility>

#include <strid/connector/pulled.hpp>
#include <strid/engine/base/text_fields.hpp>
#include <strid/engine/connector/pulled_source.hpp>
#include <strid/engine/operator/checks.hpp>
#include <strid/operator/source.hpp>

namespace strid {

namespace detail {

template <class Result>
inline constexpr bool is_optional_record = false;
template <class T>
inline constexpr bool is_optional_record<std::optional<T>> = true;

template <class F>
consteval bool returns_records() {
    if constexpr (!std::copy_constructible<F>) {
        return operators::can_be_copied<F>();
    } else if constexpr (!Pullable<F>) {
        static_assert(Pullable<F>,
                      "from_callback needs a function that takes nothing, a const Context&, a "
                      "std::stop_token, or both in this order, and returns a std::optional<T>");
        return false;
    } else if constexpr (!is_optional_record<PulledResult<F>>) {
        static_assert(is_optional_record<PulledResult<F>>,
                      "from_callback needs a function that returns the next record, and an empty "
                      "std::optional behind the last: std::optional<T> f()");
        return false;
    } else {
        using T = typename PulledResult<F>::value_type;
        static_assert(!points_to_text<T>,
                      "the text fields of a record that a callback returns would outlive their "
                      "text: return records that own it (std::string, std::array<char, N>)");
        return !points_to_text<T>;
    }
}

/// The records that a function returns.
template <class F>
class CallbackSource : public PulledSource<F> {
  public:
    using record_type = typename PulledResult<F>::value_type;
    using PulledSource<F>::PulledSource;

    using PulledSource<F>::on;
    void on(const Opened& opened) { next_.emplace(this->pulled(opened.context)); }
    auto state() { return std::tie(next_); }

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        for (std::size_t left = this->records_of_poll(budget); left != 0; --left) {
            std::optional<record_type> record = (*next_)();
            this->stamp_arrival(emit);
            if (!record) return SourceStatus::finished;
            if (!emit(std::move(*record))) break;
        }
        return this->emitted();
    }

  private:
    std::optional<Pulled<F>> next_;
};

}  // namespace detail

/// A source of the records that `function` returns, until it returns none.
template <class F>
[[nodiscard]] auto from_callback(F function, PulledOptions options = {}) {
    if constexpr (detail::returns_records<F>()) {
        return detail::CallbackSource<F>(std::move(function), options);
    }
}

}  // namespace strid
