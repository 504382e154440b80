// SPDX-License-Identifier: Apache-2.0
//
// An operator by itself: a test notifies it of records, watermarks and the end, and gets what it
// emits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <gtest/gtest.h>

#include <strid/engine/operator/contract_checks.hpp>
#include <strid/operator/contract.hpp>

#include "opened.hpp"

namespace strid::test {

/// Emits into a function, with room for everything; late records and watermarks are counted.
template <class Take>
class EmitInto {
  public:
    explicit EmitInto(Take take) : take_(std::move(take)) {}

    template <class Record>
    void operator()(Record&& record) {
        take_(record);
    }
    [[nodiscard]] static bool room() noexcept { return true; }
    void assert_progress(const Progress&) noexcept { ++assertions_; }
    template <std::size_t side = 0, class Record>
    void late(const Record&, std::uint64_t count = 1) noexcept {
        late_ += count;
    }

    [[nodiscard]] std::uint64_t late() const noexcept { return late_; }
    [[nodiscard]] std::uint64_t assertions() const noexcept { return assertions_; }

  private:
    Take take_;
    std::uint64_t late_ = 0;
    std::uint64_t assertions_ = 0;
};

/// The operator and what it emits into.
template <class Operator, class Take>
class Driven {
    static_assert(operators::is_operator<Operator>());

  public:
    Driven(Operator one, Take take) : operator_(std::move(one)), emit_(std::move(take)) {}

    void opens() {
        if constexpr (operators::Hears<Operator, Opened>) operator_.on(Opened{context_, task_});
    }
    void arrives(typename Operator::Arrived record) { operator_.process(record, emit_); }
    void time_goes_on_to(EventTime time) { notify(Watermark{time}); }
    void ends() { notify(Ended{}); }

    [[nodiscard]] Operator& one() noexcept { return operator_; }
    [[nodiscard]] const EmitInto<Take>& emitted() const noexcept { return emit_; }

  private:
    template <class Event>
    void notify(const Event& event) {
        if constexpr (operators::Hears<Operator, Event>) {
            if constexpr (std::is_void_v<decltype(operator_.on(event, emit_))>) {
                operator_.on(event, emit_);
            } else {
                EXPECT_TRUE(operator_.on(event, emit_));
            }
        }
    }

    Context context_;
    NoTask task_;
    Operator operator_;
    EmitInto<Take> emit_;
};

}  // namespace strid::test
