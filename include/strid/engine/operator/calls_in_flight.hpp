// SPDX-License-Identifier: Apache-2.0
//
// The records whose calls are in flight in one replica of `call` (operator/call.hpp), by number,
// with their calls and the progress of the stream between them: the whole state of the operator.
//
// Invariant: a progress that was heard waits at the record that arrived before it. When the record
// leaves, it waits at the one before, and has passed when there is none. So there are no more of
// them than records, whatever the order in which these leave.
//
// Threads: only the task of the node; a call is written by the thread that makes it until it is
// among those that are done.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/base/watermark.hpp>
#include <strid/engine/operator/call_threads.hpp>
#include <strid/state/bytes.hpp>
#include <strid/state/codec.hpp>

namespace strid::operators {

template <class F, class T>
concept CalledWithStop = std::invocable<const F&, const T&, std::stop_token>;
/// Calls the function, which takes the record, and the token if it can.
template <class F, class T>
decltype(auto) call_with(const F& function, const T& record, const std::stop_token& stop)
    requires(CalledWithStop<F, T> || std::invocable<const F&, const T&>)
{
    if constexpr (CalledWithStop<F, T>) {
        return std::invoke(function, record, stop);
    } else {
        (void)stop;
        return std::invoke(function, record);
    }
}
template <class F, class T>
using CallResultOf = std::remove_cvref_t<decltype(call_with(
    std::declval<const F&>(), std::declval<const T&>(), std::stop_token{}))>;

/// The call of a function for a record.
template <class T, class F, class U>
class CallOfRecord final : public ThreadedCall {
  public:
    using Result = U;

    /// One that is over.
    CallOfRecord(std::uint64_t number, U value) : number(number), result(std::move(value)) {}
    CallOfRecord(std::shared_ptr<const F> function, std::shared_ptr<const T> record,
                 std::uint64_t number) noexcept
        : number(number), function_(std::move(function)), record_(std::move(record)) {}

    void make(const std::stop_token& stop) noexcept override {
        try {
            result.emplace(call_with(*function_, *record_, stop));
        } catch (...) {
            error = std::current_exception();
        }
    }

    const std::uint64_t number;  ///< Of the record.
    std::optional<U> result;
    std::exception_ptr error;

  private:
    std::shared_ptr<const F> function_;
    std::shared_ptr<const T> record_;
};

/// A plain value: it is moved where the state of the operator is.
template <class T, class Call>
class RecordsInFlight {
    using Result = typename Call::Result;
    static constexpr bool has_codec = state::has_codec<T>() && state::has_codec<Result>() &&
                                      std::is_default_constructible_v<T> &&
                                      std::is_default_constructible_v<Result>;

  public:
    using Number = std::uint64_t;
    struct Record {
        std::shared_ptr<const T> record;
        bool late = false;     ///< Its result has to find the watermark passed.
        bool settled = false;  ///< `call` has its result, or its last error.
        std::size_t failures = 0;
        std::int64_t due_ns = 0;         ///< In due_.
        std::shared_ptr<Call> call;      ///< The present one, or the last.
        std::optional<Progress> behind;  ///< That waits for it.
    };
    using Records = std::map<Number, Record>;

    [[nodiscard]] std::size_t size() const noexcept { return records_.size(); }
    [[nodiscard]] bool empty() const noexcept { return records_.empty(); }
    [[nodiscard]] std::size_t bytes() const noexcept {
        return records_.size() * (sizeof(typename Records::value_type) + sizeof(T) + sizeof(Call));
    }
    [[nodiscard]] const Progress& heard() const noexcept { return heard_; }
    [[nodiscard]] const Progress& passed() const noexcept { return passed_; }

    Number add(T&& record, bool late) {
        Record one;
        one.record = std::make_shared<const T>(std::move(record));
        one.late = late;
        records_.emplace_hint(records_.end(), next_, std::move(one));
        return next_++;
    }
    [[nodiscard]] Record& at(Number number) { return records_.at(number); }
    /// The record, if this is its present call.
    [[nodiscard]] Record* of(const Call& call) {
        const auto found = records_.find(call.number);
        if (found == records_.end() || found->second.call.get() != &call) return nullptr;
        return &found->second;
    }
    template <class Visit>
    void each(const Visit& visit) {
        for (auto& [number, record] : records_) visit(number, record);
    }

    /// The input has this progress.
    void hear(const Progress& progress) {
        if (progress == heard_) return;
        heard_ = progress;
        if (records_.empty()) {
            passed_ = progress;
        } else {
            std::prev(records_.end())->second.behind = progress;
        }
    }

    /// Asks for a call at this time.
    void wake(Number number, std::int64_t ns) {
        at(number).due_ns = ns;
        due_.emplace(ns, number);
    }
    void wake_no_more(Number number) {
        Record& record = at(number);
        if (record.due_ns != 0) due_.erase({record.due_ns, number});
        record.due_ns = 0;
    }
    /// The earliest; 0: none.
    [[nodiscard]] std::int64_t due_ns() const noexcept {
        return due_.empty() ? 0 : due_.begin()->first;
    }
    /// The record that is due first, if any is.
    [[nodiscard]] std::optional<Number> due_at(std::int64_t now_ns) const {
        if (due_.empty() || due_.begin()->first > now_ns) return std::nullopt;
        return due_.begin()->second;
    }

    /// Its call is over for good.
    void settle(Number number, bool ordered) {
        Record& record = at(number);
        record.settled = true;
        if (!ordered && !record.late) settled_.push_back(number);
    }
    /// The record whose result may leave next.
    [[nodiscard]] std::optional<Number> next(bool ordered) const {
        if (!settled_.empty()) return settled_.front();
        if (records_.empty()) return std::nullopt;
        const auto& [number, first] = *records_.begin();
        if (first.settled && (ordered || first.late)) return number;
        return std::nullopt;
    }
    /// The record leaves.
    Record take(Number number) {
        const auto at = records_.find(number);
        if (!settled_.empty() && settled_.front() == number) settled_.pop_front();
        Record record = std::move(at->second);
        if (record.behind) {
            if (at == records_.begin()) {
                passed_ = *record.behind;
            } else {
                std::prev(at)->second.behind = record.behind;
            }
        }
        records_.erase(at);
        return record;
    }

    /// A call that has failed for good, or is not over, is made again after load(): an exception
    /// cannot be saved.
    void save(StateWriter& writer) const
        requires has_codec
    {
        writer.length(records_.size());
        for (const auto& [number, one] : records_) {
            const bool is_over = has_result(one);
            writer.number(number);
            state::save(writer, *one.record);
            state::save(writer, one.late);
            state::save(writer, one.failures);
            state::save(writer, one.behind);
            state::save(writer, is_over ? one.call->result : std::optional<Result>{});
            state::save(writer, waits(one) ? one.due_ns : std::int64_t{0});
        }
        state::save(writer, next_);
        std::vector<Number> over;
        for (const Number number : settled_) {
            if (has_result(records_.at(number))) over.push_back(number);
        }
        state::save(writer, over);
        state::save(writer, heard_);
        state::save(writer, passed_);
    }
    void load(StateReader& reader)
        requires has_codec
    {
        for (std::size_t left = reader.length(sizeof(Number)); left != 0; --left) {
            const Number number = reader.number();
            Record one;
            one.record = std::make_shared<const T>(state::loaded<T>(reader));
            state::load(reader, one.late);
            state::load(reader, one.failures);
            state::load(reader, one.behind);
            auto result = state::loaded<std::optional<Result>>(reader);
            one.settled = result.has_value();
            if (result) one.call = std::make_shared<Call>(number, std::move(*result));
            const auto due_ns = state::loaded<std::int64_t>(reader);
            if (!records_.emplace(number, std::move(one)).second) reader.refuse("is there twice");
            if (due_ns != 0) wake(number, due_ns);
        }
        state::load(reader, next_);
        if (!records_.empty() && std::prev(records_.end())->first >= next_) {
            reader.refuse("has a number that is still to come");
        }
        for (const Number number : state::loaded<std::vector<Number>>(reader)) {
            const auto found = records_.find(number);
            if (found == records_.end() || !found->second.settled) reader.refuse("is not over");
            settled_.push_back(number);
        }
        state::load(reader, heard_);
        state::load(reader, passed_);
    }

  private:
    static bool has_result(const Record& one) {
        return one.settled && one.call != nullptr && one.call->result.has_value();
    }
    /// For its next call, and not in one.
    static bool waits(const Record& one) { return !one.settled && one.call == nullptr; }

    Records records_;
    Number next_ = 0;
    std::set<std::pair<std::int64_t, Number>> due_;
    std::deque<Number> settled_;  // as they were, without late ones; not if results are ordered
    Progress heard_;              // of the input
    Progress passed_;             // of the stream behind
};

}  // namespace strid::operators
