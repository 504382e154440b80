// SPDX-License-Identifier: Apache-2.0
//
// Watermarks. A watermark of time w is a promise about a stream: of what happened before w nothing
// more will come; a record that breaks it is late. A strategy draws watermarks from the records
// that a source emits; a merge makes one of those of several inputs. Both are plain values that
// touch no channel.
//
// The law of every strategy and merge: what it says never goes back. Who breaks it ends the run
// with a WatermarkError.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/base/error.hpp>
#include <strid/base/time.hpp>

namespace strid {

/// A watermark, or the time it promises, went back: the promise that was made before is broken by
/// who made it. Says by how much.
class WatermarkError : public Error {
  public:
    /// `said` is the watermark that went back, `before` the one that was promised already.
    WatermarkError(EventTime said, EventTime before);
};

namespace detail {

/// How far time has gone on without records.
class Silence {
  public:
    /// Throws Error for a time that is negative.
    explicit Silence(Duration after);

    /// It lasts so long since a record came, after which `promised` was promised.
    void lasts(Duration silence, EventTime promised) noexcept {
        if (after_ == Duration::zero() || silence < after_) return;
        if (promised == EventTime::earliest()) return;  // no record has come at all
        moved_to_ = std::max(moved_to_, promised + (silence - after_));
    }
    [[nodiscard]] EventTime moved_to() const noexcept { return moved_to_; }
    [[nodiscard]] Duration next(Duration told) const noexcept {
        if (after_ == Duration::zero()) return after_;
        return told < after_ ? after_ : told + std::clamp(after_ / 8, shortest, longest);
    }

  private:
    // How soon windows end in silence once they are over.
    static constexpr Duration shortest = std::chrono::milliseconds{1};
    static constexpr Duration longest = std::chrono::milliseconds{100};

    Duration after_;
    EventTime moved_to_ = EventTime::earliest();
};

}  // namespace detail

/// Sees every record of a source with its time, and says how far time has come.
template <class S, class T>
concept WatermarkStrategy =
    std::copy_constructible<S> && requires(S& strategy, const S& asked, const T& record) {
        strategy.observe(record, EventTime{});
        { asked.watermark() } -> std::same_as<EventTime>;
    };

/// It says of itself that what it says never goes back, or throws: it is not watched.
template <class S>
inline constexpr bool never_goes_back = requires { requires S::never_goes_back; };

/// For times that never go back: the promise is the time of the last record. Equal times may
/// follow; a time that goes back is late.
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

  private:
    EventTime latest_ = EventTime::earliest();
};

/// For times that go back by `bound` at most.
class BoundedDisorder {
  public:
    static constexpr bool never_goes_back = true;  ///< The watermark never goes back.

    /// Throws Error for a bound that is negative.
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

  private:
    Duration bound_;
    EventTime latest_ = EventTime::earliest();
    EventTime watermark_ = EventTime::earliest();
};

/// For finite inputs in no order of time, as a file in order of key: nothing is promised before the
/// end, so that nothing is late and every window stays open until then.
class AtEnd {
  public:
    static constexpr bool never_goes_back = true;  ///< The watermark never goes back.

    /// Does nothing.
    template <class T>
    void observe(const T&, EventTime) noexcept {}
    /// The earliest time: no record is late before the end.
    [[nodiscard]] EventTime watermark() const noexcept { return EventTime::earliest(); }
};

/// For live streams that fall silent: where no record has come for `after`, time goes on by the
/// machine's clock, `after` behind, from what `Strategy` promised last. So a window ends in silence
/// when `after` has passed since its end; a record that comes then is late only where it is further
/// behind the clock than it would be behind the records, and by `after` besides.
template <class Strategy>
class InSilence {
  public:
    /// As of the strategy that is wrapped.
    static constexpr bool never_goes_back = requires { requires Strategy::never_goes_back; };

    /// Throws Error for a time that is negative. 0: time waits for records.
    InSilence(Strategy strategy, Duration after)
        : strategy_(std::move(strategy)), silence_(after) {}

    /// Hands `record` and its time to the strategy that is wrapped.
    template <class T>
    void observe(const T& record, EventTime time) {
        strategy_.observe(record, time);
    }
    /// That of the strategy, or where silence has moved it to, whichever is later.
    [[nodiscard]] EventTime watermark() const {
        return std::max(strategy_.watermark(), silence_.moved_to());
    }
    /// No record has come for so long.
    void silent_for(Duration silence) { silence_.lasts(silence, strategy_.watermark()); }
    /// After which silence it wants to be told again, having been told of this one; 0: never.
    [[nodiscard]] Duration next_silence(Duration told) const noexcept {
        return silence_.next(told);
    }

  private:
    Strategy strategy_;
    detail::Silence silence_;
};

/// For streams in which some records carry a promise: `find(record)` gives a
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
        const std::optional<EventTime> promised = std::invoke(find_, record);
        if (!promised) return;
        if (*promised < watermark_) throw WatermarkError(*promised, watermark_);
        watermark_ = *promised;
    }
    /// The last watermark that a record carried.
    [[nodiscard]] EventTime watermark() const noexcept { return watermark_; }

  private:
    Find find_;
    EventTime watermark_ = EventTime::earliest();
};

/// How far a stream has come: what a batch says of what its sender sends after it, and what travels
/// down a chain of operators.
struct Progress {
    /// No record with an earlier event time follows, but late ones.
    EventTime watermark = EventTime::earliest();
    bool idle = false;  ///< Nothing is known for the time being: this input holds nobody back.
    friend bool operator==(const Progress&, const Progress&) = default;
};

/// One watermark for several inputs (the splits of a source, the links of a port): the least of
/// those that are active. An input that is idle holds nobody back; what it brings when it wakes may
/// be late. An input that has ended holds nobody back either; when all have, time stands where the
/// one that came furthest left it, whichever ended first.
///
/// O(1) per update but where the slowest input moves, which takes O(inputs).
class WatermarkMerge {
  public:
    WatermarkMerge() = default;
    /// Throws Error for no input.
    explicit WatermarkMerge(std::size_t inputs);

    /// One more input, of which nothing is known yet. Returns its index. Before the first update.
    std::size_t add_input() {
        inputs_.emplace_back();
        ++active_;
        return inputs_.size() - 1;
    }

    /// Idle inputs hold the others back unless all are idle: for inputs that take turns with one
    /// stream, so that one is idle for as long only as it has not heard that the stream goes on.
    /// Before the first update.
    void wait_for_idle() noexcept { waits_for_idle_ = true; }

    /// The input promises `watermark` and is active. Throws WatermarkError where that goes back.
    void update(std::size_t input, EventTime watermark);
    /// Nothing is known of the input for the time being.
    void set_idle(std::size_t input);
    /// Nothing more will come from the input.
    void set_ended(std::size_t input);

    /// The least watermark of the inputs that are neither idle nor ended.
    [[nodiscard]] EventTime watermark() const noexcept { return watermark_; }
    /// What the input promised last.
    [[nodiscard]] EventTime promised(std::size_t input) const noexcept {
        return inputs_[input].time;
    }
    /// Of the inputs that have not ended none is active.
    [[nodiscard]] bool all_idle() const noexcept { return active_ == 0 && ended_ < inputs_.size(); }
    /// What the inputs say together.
    [[nodiscard]] Progress progress() const noexcept { return {watermark_, all_idle()}; }

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
    EventTime last_ = EventTime::earliest();  // that an input promised before it ended
    bool waits_for_idle_ = false;
};

}  // namespace strid
