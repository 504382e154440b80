// SPDX-License-Identifier: Apache-2.0
//
// The operator `parser`: takes calls in their order and says of each established one how far the
// stream has come. Others only move the time on. One replica, one thread at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>

#include <strid/operator/contract.hpp>
#include <strid/operator/counter.hpp>

#include "call.hpp"

namespace strid::apps::voip_stream {

class CallsInOrder : public OperatorTypes<Call, TimedCall> {
  public:
    static constexpr OperatorTraits traits{.kind = "parser",
                                           .emits = Emits::at_most_one,
                                           .hears = events<Opened>,
                                           .only_reads = true,
                                           .one_replica = true};

    void on(const Opened& opened) {
        late_ = opened.context.counter("late");
        not_established_ = opened.context.counter("not established");
    }
    void process(const Call& call, auto& emit) {
        if (call.start < now_) late_.add();
        now_ = std::max(now_, call.start);
        if (!call.established) return not_established_.add();
        emit(TimedCall{key_of(call.calling), key_of(call.called), call.start, call.duration, now_});
    }
    auto state() { return std::tie(now_); }

  private:
    std::uint32_t now_ = 0;
    Counter late_;
    Counter not_established_;
};

}  // namespace strid::apps::voip_stream
