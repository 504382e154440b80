// SPDX-License-Identifier: Apache-2.0
//
// Orders a stream by event time, for operators that need order and not only windows: the two other
// execution modes of WindFlow (paper 2), as operators that can stand anywhere.
//
//     TimeOrder   deterministic: a record waits until the watermark excludes records before it. No
//                 record in time is lost; the latency is that of the watermark. Whether a record is
//                 late depends on the watermark of its input, not on that of the others: it is the
//                 same in every run, as long as no input is idle.
//     KSlack      probabilistic: a record waits as long as the greatest delay seen so far (K).
//                 Needs no watermark and draws its own; a record with a longer delay is late.
//
// Late records are counted, and dropped unless the graph has a late stream (late_apart.hpp). O(log
// records waiting) per record. Waiting records are copied out of their batches and must own their
// data.
//
// Threads: only the task of the node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#include <strid/base/field.hpp>
#include <strid/base/time.hpp>
#include <strid/engine/base/member_pointer.hpp>
#include <strid/engine/base/text_fields.hpp>
#include <strid/engine/operator/agreed_time.hpp>
#include <strid/engine/operator/checks.hpp>
#include <strid/engine/operator/contract_checks.hpp>
#include <strid/operator/contract.hpp>

namespace strid {

namespace operators {

/// The waiting records: by time, then by the function for equal times, then by input, then by
/// arrival.
template <class T, class Tie>
class WaitingRecords {
  public:
    void push(T&& record, EventTime time, Tie tie, std::size_t input) {
        heap_.push_back({time, std::move(tie), input, came_++, std::move(record)});
        std::push_heap(heap_.begin(), heap_.end(), later);
    }
    /// Passes on the records earlier than `end` while there is room. True once all are.
    bool release_before(EventTime end, auto& emit) {
        while (!heap_.empty() && heap_.front().time < end) {
            if (!emit.room()) return false;
            release_first(emit);
        }
        return true;
    }
    bool release_all(auto& emit) {
        while (!heap_.empty()) {
            if (!emit.room()) return false;
            release_first(emit);
        }
        return true;
    }
    /// Without heap memory of the records.
    [[nodiscard]] std::size_t bytes() const noexcept { return heap_.size() * sizeof(Item); }
    auto state() { return std::tie(heap_, came_); }

  private:
    struct Item {
        EventTime time;
        Tie tie;
        std::size_t input;
        std::uint64_t came;
        T record;
    };
    static bool later(const Item& a, const Item& b) noexcept {
        if (a.time != b.time) return a.time > b.time;
        if (a.tie != b.tie) return a.tie > b.tie;
        if (a.input != b.input) return a.input > b.input;
        return a.came > b.came;
    }

    void release_first(auto& emit) {
        std::pop_heap(heap_.begin(), heap_.end(), later);
        T record = std::move(heap_.back().record);
        heap_.pop_back();
        emit(record);
    }

    std::vector<Item> heap_;  // the next at the front
    std::uint64_t came_ = 0;
};

/// Equal times are ordered by arrival.
struct ByArrival {
    template <class T>
    int operator()(const T&) const noexcept {
        return 0;
    }
};

template <class T, class TimeOf, class TieOf>
class TimeOrder : public OperatorTypes<T, T> {
    static_assert((refuse_member_pointer<TieOf>(), true));

    using Tie = std::remove_cvref_t<std::invoke_result_t<const TieOf&, const T&>>;
    static_assert(!points_to_text<Tie>,
                  "what decides among equal times is kept until the record's turn has come: it has "
                  "to own its text (std::string)");

  public:
    static constexpr OperatorTraits traits{.kind = "in_order_of_time",
                                           .emits = Emits::any_number,
                                           .hears = events<BatchBegins, Watermark, Ended>,
                                           .has = Has::time_of,
                                           .needs_watermarks = true,
                                           .passes_records = true,
                                           .finds_late = true,
                                           .one_replica = true};

    TimeOrder(TimeOf time_of, TieOf tie_of)
        : time_of_(std::move(time_of)), tie_of_(std::move(tie_of)) {
        check_owns_text<T>();
    }

    /// For the engine (engine/operator/agreed_time.hpp).
    auto& time_of() noexcept { return time_of_; }
    auto state() { return std::tie(waiting_, watermark_); }
    void on(const BatchBegins& batch) noexcept {
        asserted_ = batch.watermark;
        input_ = batch.input;
    }

    void process(T& record, auto& emit) {
        const EventTime time = time_of_(record);
        if (time < asserted_ || time < watermark_) [[unlikely]]
            return emit.late(record);
        auto tie = std::invoke(tie_of_, std::as_const(record));
        waiting_.push(std::move(record), time, std::move(tie), input_);
    }

    bool on(Watermark watermark, auto& emit) {
        if (!waiting_.release_before(watermark.time, emit)) return false;
        watermark_ = watermark.time;
        return true;
    }
    bool on(Ended, auto& emit) { return waiting_.release_all(emit); }

  private:
    [[no_unique_address]] AgreedTime<TimeOf> time_of_;
    [[no_unique_address]] TieOf tie_of_;
    EventTime asserted_ = EventTime::earliest();
    std::size_t input_ = 0;
    EventTime watermark_ = EventTime::earliest();
    WaitingRecords<T, Tie> waiting_;
};

template <class T, class TimeOf>
class KSlack : public OperatorTypes<T, T> {
  public:
    static constexpr OperatorTraits traits{.kind = "k_slack",
                                           .emits = Emits::any_number,
                                           .hears = events<Clock, Watermark, Ended>,
                                           .has = Has::draws_from,
                                           .finds_late = true,
                                           .one_replica = true};

    explicit KSlack(TimeOf time_of) : time_of_(std::move(time_of)) { check_owns_text<T>(); }

    /// The time function of its watermarks.
    [[nodiscard]] const TimeOf& draws_from() const noexcept { return time_of_; }
    auto state() { return std::tie(waiting_, latest_, passed_, slack_); }

    void process(T& record, auto& emit) {
        const EventTime time = std::invoke(time_of_, std::as_const(record));
        latest_ = std::max(latest_, time);
        slack_ = std::max(slack_, latest_ - time);
        if (time < passed_) [[unlikely]]
            return emit.late(record);
        waiting_.push(std::move(record), time, 0, 0);
    }

    /// All records before this time have been passed on, in order.
    [[nodiscard]] Progress on(Clock) noexcept {
        passed_ = std::max(passed_, latest_ - slack_);
        return {passed_, false};
    }
    bool on(Watermark watermark, auto& emit) {
        return waiting_.release_before(watermark.time, emit);
    }
    bool on(Ended, auto& emit) {
        if (!waiting_.release_all(emit)) return false;
        passed_ = std::max(passed_, latest_);
        return true;
    }

  private:
    [[no_unique_address]] TimeOf time_of_;
    EventTime latest_ = EventTime::earliest();
    EventTime passed_ = EventTime::earliest();
    Duration slack_ = Duration::zero();  // K
    WaitingRecords<T, int> waiting_;
};

}  // namespace operators

/// For `apply`. Puts the records in the order of event time, equal times by `tie_of`, then by
/// input, then as they came in it: the same in every run. With a `tie_of`, or right behind the
/// sources, the order is also the same at any parallelism. Each record waits until the watermark
/// has passed it; late records are dropped and counted, or with `late_apart` are the second stream.
/// Needs `event_time`. Has one replica, because each of several would have its own order.
template <class TieOf = operators::ByArrival>
[[nodiscard]] auto in_order_of_time(TieOf tie_of = {}) {
    return
        [tie_of = std::move(tie_of)]<class T, class TimeOf>(const Arriving<T, TimeOf>& arriving) {
            if constexpr (operators::knows_time<TimeOf, T>()) {
                return operators::TimeOrder<T, TimeOf, TieOf>{arriving.time_of, tie_of};
            } else {
                return operators::Refused{};
            }
        };
}

/// For `apply`. Puts the records in the order of event time without watermarks: each record waits
/// as long as the greatest delay so far. A record with a greater delay is dropped and counted as
/// late, or with `late_apart` is in the second stream (paper 2, the probabilistic mode). Behind
/// several inputs, which records are late depends on timing. Windows may follow: the stream has
/// event time.
template <class TimeOf>
[[nodiscard]] auto k_slack(TimeOf time_of) {
    return [time_of = std::move(time_of)]<class T, class Time>(const Arriving<T, Time>&) {
        if constexpr (operators::takes_time<TimeOf, T>()) {
            return operators::KSlack<T, TimeOf>{time_of};
        } else {
            return operators::Refused{};
        }
    };
}

}  // namespace strid
