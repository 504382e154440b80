// SPDX-License-Identifier: Apache-2.0
//
// Watermarks. A watermark of time w asserts that no record with an event time below w follows; a
// record that does is late. A strategy derives watermarks from the records that a source emits; a
// merge combines the watermarks of several inputs into one. Both are plain values that use no
// channel.
//
// Invariant of every strategy and merge: watermarks never go back. A strategy that breaks it ends
// the run with a WatermarkError.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/base/error.hpp>
#include <strid/base/state_share.hpp>
#include <strid/base/time.hpp>

namespace strid {

/// A watermark, or the time it was derived from, went back, so that an earlier watermark is wrong.
/// The message contains both times.
class WatermarkError : public Error {
  public:
    /// `watermark` is the one that went back, `before` the one that was asserted already.
    WatermarkError(EventTime watermark, EventTime before);
};

namespace detail {

/// The time that has passed without records.
class Silence {
  public:
    /// Throws Error if the time is negative.
    explicit Silence(Duration after);

    /// No record has come for `silence`; the watermark before it was `before`.
    void lasts(Duration silence, EventTime before) noexcept {
        if (after_ == Duration::zero() || silence < after_) return;
        if (before == EventTime::earliest()) return;  // no record has come yet
        moved_to_ = std::max(moved_to_, before + (silence - after_));
    }
    [[nodiscard]] EventTime moved_to() const noexcept { return moved_to_; }
    [[nodiscard]] Duration next(Duration reported) const noexcept {
        if (after_ == Duration::zero()) return after_;
        return reported < after_ ? after_ : reported + std::clamp(after_ / 8, shortest, longest);
    }
    auto state() { return std::tie(moved_to_); }
    void move_to(EventTime time) noexcept { moved_to_ = time; }

  private:
    // The waits until expired windows fire during silence.
    static constexpr Duration shortest = std::chrono::milliseconds{1};
    static constexpr Duration longest = std::chrono::milliseconds{100};

    Duration after_;
    EventTime moved_to_ = EventTime::earliest();
};

}  // namespace detail

/// Takes every record of a source with its time, and returns the watermark. A strategy that keeps
/// its watermark behind the latest time has `void ended()`, too: no record follows, and its
/// watermark is the latest time from then on. A window that drops what is open at the end
/// (OpenWindows::drop) tells by that which windows the stream has passed.
template <class S, class T>
concept WatermarkStrategy =
    std::copy_constructible<S> && requires(S& strategy, const S& asked, const T& record) {
        strategy.observe(record, EventTime{});
        { asked.watermark() } -> std::same_as<EventTime>;
    };

/// A strategy that guarantees that its watermarks never go back, or throws; it is not checked.
template <class S>
inline constexpr bool never_goes_back = requires { requires S::never_goes_back; };

/// For times that never go back: the watermark is the time of the last record. Equal times may
/// follow; a record with an earlier time is late.
class MonotonousTime {
  public:
    static constexpr bool never_goes_back = true;  ///< The watermark never goes back.

    /// Takes the time of a record into account. O(1).
    template <class T>
    void observe(const T&, EventTime time) noexcept {
        latest_ = std::max(latest_, time);
    }
    /// The latest time that was observed.
    [[nodiscard]] EventTime watermark() const noexcept { return latest_; }
    /// Snapshots save this.
    auto state() { return std::tie(latest_); }
    /// Of replicas that go on as another number of them: the earliest watermark is true of all.
    void merge_state(const MonotonousTime& other) noexcept {
        latest_ = std::min(latest_, other.latest_);
    }
    /// Each replica has all of it.
    void split_state(StateShare) noexcept {}

  private:
    EventTime latest_ = EventTime::earliest();
};

/// For times that go back by at most `bound`.
class BoundedDisorder {
  public:
    static constexpr bool never_goes_back = true;  ///< The watermark never goes back.

    /// Throws Error if the bound is negative.
    explicit BoundedDisorder(Duration bound);

    /// Takes the time of a record into account. O(1).
    template <class T>
    void observe(const T&, EventTime time) noexcept {
        if (time <= latest_) return;
        latest_ = time;
        watermark_ = time - bound_;
    }
    /// The latest time that was observed, less the bound.
    [[nodiscard]] EventTime watermark() const noexcept { return watermark_; }
    /// The watermark is the latest time that was observed.
    void ended() noexcept { watermark_ = latest_; }
    /// Snapshots save this.
    auto state() { return std::tie(latest_, watermark_); }
    /// Of replicas that go on as another number of them: the earliest watermark is true of all.
    void merge_state(const BoundedDisorder& other) noexcept {
        latest_ = std::min(latest_, other.latest_);
        watermark_ = std::min(watermark_, other.watermark_);
    }
    /// Each replica has all of it.
    void split_state(StateShare) noexcept {}

  private:
    Duration bound_;
    EventTime latest_ = EventTime::earliest();
    EventTime watermark_ = EventTime::earliest();
};

/// For finite inputs that are not ordered by time, such as a file ordered by key: there is no
/// watermark before the end, so that no record is late and every window stays open until then.
class AtEnd {
  public:
    static constexpr bool never_goes_back = true;  ///< The watermark never goes back.

    /// Takes the time of a record into account. O(1).
    template <class T>
    void observe(const T&, EventTime time) noexcept {
        latest_ = std::max(latest_, time);
    }
    /// The earliest time: no record is late before the end.
    [[nodiscard]] EventTime watermark() const noexcept { return watermark_; }
    /// The watermark is the latest time that was observed.
    void ended() noexcept { watermark_ = latest_; }
    /// Snapshots save this.
    auto state() { return std::tie(latest_, watermark_); }
    /// Of replicas that go on as another number of them.
    void merge_state(const AtEnd& other) noexcept {
        latest_ = std::max(latest_, other.latest_);
        watermark_ = std::min(watermark_, other.watermark_);
    }
    /// Each replica has all of it.
    void split_state(StateShare) noexcept {}

  private:
    EventTime latest_ = EventTime::earliest();
    EventTime watermark_ = EventTime::earliest();
};

/// For live streams that fall silent: when no record has come, nor waits in the source, for
/// `after`, the watermark continues by the machine's clock, `after` behind it, from the last
/// watermark of `Strategy`. A window therefore fires in silence when `after` has passed since its
/// end. A record that comes then is late only if it lies behind the clock by more than the bound of
/// `Strategy` and `after` together.
template <class Strategy>
class InSilence {
  public:
    /// As of the strategy that is wrapped.
    static constexpr bool never_goes_back = requires { requires Strategy::never_goes_back; };

    /// Throws Error if the time is negative. 0: the watermark waits for records.
    InSilence(Strategy strategy, Duration after)
        : strategy_(std::move(strategy)), silence_(after) {}

    /// Hands `record` and its time to the strategy that is wrapped.
    template <class T>
    void observe(const T& record, EventTime time) {
        strategy_.observe(record, time);
    }
    /// The later of the strategy's watermark and the one that silence has reached.
    [[nodiscard]] EventTime watermark() const {
        return std::max(strategy_.watermark(), silence_.moved_to());
    }
    /// As of the strategy that is wrapped.
    void ended()
        requires requires(Strategy& wrapped) { wrapped.ended(); }
    {
        strategy_.ended();
    }
    /// No record has come for `silence`.
    void silent_for(Duration silence) { silence_.lasts(silence, strategy_.watermark()); }
    /// The length of silence at which silent_for() must be called next, after a call with
    /// `reported`; 0: never.
    [[nodiscard]] Duration next_silence(Duration reported) const noexcept {
        return silence_.next(reported);
    }
    /// Snapshots save this.
    auto state() { return std::tie(strategy_, silence_); }
    /// As of the strategy that is wrapped; the earlier of the two watermarks stands.
    void merge_state(const InSilence& other)
        requires requires(Strategy& mine, const Strategy& others) { mine.merge_state(others); }
    {
        const EventTime reached = std::min(watermark(), other.watermark());
        strategy_.merge_state(other.strategy_);
        silence_.move_to(reached);
    }
    /// As of the strategy that is wrapped.
    void split_state(StateShare share)
        requires requires(Strategy& mine) { mine.split_state(share); }
    {
        strategy_.split_state(share);
    }

  private:
    Strategy strategy_;
    detail::Silence silence_;
};

/// For streams in which some records carry a watermark: `find(record)` returns a
/// `std::optional<EventTime>`. One that goes back throws WatermarkError.
template <class Find>
class PunctuatedTime {
  public:
    /// The watermark never goes back; one that would throws WatermarkError.
    static constexpr bool never_goes_back = true;

    /// `find` returns the watermark that a record carries, or nothing.
    explicit PunctuatedTime(Find find) : find_(std::move(find)) {}

    /// Asks `find` for a watermark. Throws WatermarkError for one that goes back.
    template <class T>
        requires std::same_as<std::invoke_result_t<Find&, const T&>, std::optional<EventTime>>
    void observe(const T& record, EventTime) {
        const std::optional<EventTime> found = std::invoke(find_, record);
        if (!found) return;
        if (*found < watermark_) throw WatermarkError(*found, watermark_);
        watermark_ = *found;
    }
    /// The last watermark that a record carried.
    [[nodiscard]] EventTime watermark() const noexcept { return watermark_; }
    /// Snapshots save this.
    auto state() { return std::tie(watermark_); }
    /// Of replicas that go on as another number of them: the earliest watermark is true of all.
    void merge_state(const PunctuatedTime& other) noexcept {
        watermark_ = std::min(watermark_, other.watermark_);
    }
    /// Each replica has all of it.
    void split_state(StateShare) noexcept {}

  private:
    Find find_;
    EventTime watermark_ = EventTime::earliest();
};

/// The progress of a stream: every batch carries the watermark of what its sender sends after it,
/// and a chain of operators passes it on.
struct Progress {
    /// No record with an earlier event time follows, but late ones.
    EventTime watermark = EventTime::earliest();
    bool idle = false;  ///< There is no watermark for now: this input is left out of the minimum.
    friend bool operator==(const Progress&, const Progress&) = default;
};

/// One watermark for several inputs (the splits of a source, the links of a port): the least
/// watermark of the active inputs. An idle input is left out; records that it sends when it wakes
/// may be late. An input that has ended is left out, too. When all have ended, the watermark is the
/// greatest that any of them had, in whatever order they ended.
///
/// O(1) per update, or O(inputs) when the slowest input moves.
class WatermarkMerge {
  public:
    /// Of no input yet: add_input() adds each.
    WatermarkMerge() = default;
    /// Throws Error for no inputs.
    explicit WatermarkMerge(std::size_t inputs);

    /// Adds an input without a watermark. Returns its index. Before the first update.
    std::size_t add_input() {
        inputs_.emplace_back();
        ++active_;
        return inputs_.size() - 1;
    }

    /// Idle inputs hold the others back unless all are idle. For inputs that take turns with one
    /// stream: an input is then idle only until it learns that the stream goes on. Before the first
    /// update.
    void wait_for_idle() noexcept { waits_for_idle_ = true; }

    /// The input, which has not ended, has the watermark `watermark` and is active. Throws
    /// WatermarkError if it goes back.
    void update(std::size_t input, EventTime watermark);
    /// The input has no watermark for now.
    void set_idle(std::size_t input);
    /// No record follows from the input.
    void set_ended(std::size_t input);

    /// The least watermark of the inputs that are neither idle nor ended.
    [[nodiscard]] EventTime watermark() const noexcept { return watermark_; }
    /// The last watermark of the input; of one that has ended, EventTime::latest().
    [[nodiscard]] EventTime watermark_of(std::size_t input) const noexcept {
        return inputs_[input].time;
    }
    /// None of the inputs that have not ended is active.
    [[nodiscard]] bool all_idle() const noexcept { return active_ == 0 && ended_ < inputs_.size(); }
    /// The watermark, and whether all inputs are idle.
    [[nodiscard]] Progress progress() const noexcept { return {watermark_, all_idle()}; }
    /// How many inputs were added.
    [[nodiscard]] std::size_t inputs() const noexcept { return inputs_.size(); }
    /// The inputs begin anew, behind a snapshot, at the watermarks that as many had before. Lower
    /// ones that follow are no error until an input has risen above that: the one before stands.
    void begin_anew_at(const WatermarkMerge& before);
    /// Snapshots save this.
    auto state() { return std::tie(inputs_, active_, ended_, watermark_, last_); }

  private:
    enum class State : std::uint8_t { active, idle, ended };
    struct Input {
        EventTime time = EventTime::earliest();
        State state = State::active;
    };

    void recompute() noexcept;

    std::vector<Input> inputs_;
    std::size_t active_ = 0;
    std::size_t ended_ = 0;
    EventTime watermark_ = EventTime::earliest();
    EventTime last_ = EventTime::earliest();  // the greatest watermark of an input that has ended
    bool waits_for_idle_ = false;
    std::vector<EventTime> before_anew_;  // the watermarks that begin_anew_at() has set
};

}  // namespace strid
