// SPDX-License-Identifier: Apache-2.0
//
// The operator behind a source that keeps step with others (base/alignment.hpp): it passes every
// record on, reports the watermark, and holds the source back while that is too far ahead. It
// checks the other sources every millisecond.
//
// Threads: only the task of the node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <strid/base/alignment.hpp>
#include <strid/base/clock.hpp>
#include <strid/operator/contract.hpp>

namespace strid {

namespace operators {

template <class T>
class Aligned : public OperatorTypes<T, T> {
  public:
    static constexpr OperatorTraits traits{.kind = "aligned",
                                           .hears = events<Opened, Watermark, Closed>,
                                           .has = Has::held_back | Has::wake_at_ns,
                                           .passes_records = true,
                                           .stateless = true};

    explicit Aligned(Alignment alignment) : alignment_(std::move(alignment)) {}

    void on(const Opened&) { member_ = alignment_.join(); }
    [[gnu::always_inline]] void process(T& record, auto& emit) { emit(record); }
    /// An idle stream holds no other back, and is not held back.
    void on(Watermark watermark, auto& /*emit*/) {
        const bool may_go_on =
            alignment_.may_go_on(member_, watermark.idle ? EventTime::latest() : watermark.time);
        held_back_ = !may_go_on && !watermark.idle;
    }
    [[nodiscard]] bool held_back() const noexcept { return held_back_; }
    [[nodiscard]] std::int64_t wake_at_ns() const noexcept {
        constexpr std::int64_t ask_again_ns = 1'000'000;
        return held_back_ ? operator_clock_ns() + ask_again_ns : 0;
    }
    void on(Closed) { (void)alignment_.may_go_on(member_, EventTime::latest()); }

  private:
    Alignment alignment_;
    std::size_t member_ = 0;
    bool held_back_ = false;
};

}  // namespace operators

/// For `apply`. Sources with the same alignment keep step: each waits for the slowest of them by
/// event time, so call `event_time` before. Copies of `alignment` are the same alignment.
[[nodiscard]] inline auto aligned(Alignment alignment) {
    return [alignment = std::move(alignment)]<class T, class Time>(const Arriving<T, Time>&) {
        return operators::Aligned<T>{alignment};
    };
}

}  // namespace strid
