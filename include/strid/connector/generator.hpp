// SPDX-License-Identifier: Apache-2.0
//
// A source of the records that a coroutine yields. The engine resumes it while there is room for
// records. For records of another thread use an inlet (Graph::inlet); for records that are computed
// from a number use `generate`.
//
//     graph.source(from_generator([path]() -> Generator<Reading> {
//         Device device{path};
//         while (device.good()) {
//             if (auto reading = device.read()) {
//                 co_yield *reading;
//             } else {
//                 co_yield idle_for(10ms);
//             }
//         }
//     }))
//
// Each replica calls a copy of the function (connector/pulled.hpp) and owns the coroutine that it
// makes; the captures of a lambda live as long. The frame of the coroutine is allocated once, and
// nothing for a record: one that is yielded as a temporary or by std::move is moved on, any other
// copied. An exception ends the run as an OperatorError that names the source. The frame is
// destroyed when the coroutine is over, or at the end of the run. After a stop the coroutine is not
// resumed. The place where a coroutine stands cannot be saved: a graph that is to go on from a
// snapshot needs another source (connector/pulled.hpp).
//
// Threads: a replica's coroutine is resumed by one thread at a time.
#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <tuple>
#include <utility>

#include <strid/base/clock.hpp>
#include <strid/base/error.hpp>
#include <strid/base/time.hpp>
#include <strid/connector/pulled.hpp>
#include <strid/engine/base/text_fields.hpp>
#include <strid/engine/connector/pulled_source.hpp>
#include <strid/engine/operator/checks.hpp>
#include <strid/operator/source.hpp>

namespace strid {

/// A coroutine yields this when it has no record for a while; it is not resumed before that time.
class IdleFor {
  public:
    /// For `time` from now on.
    explicit IdleFor(Duration time) noexcept : time(time) {}
    Duration time;  ///< The time without a record.
};
/// `co_yield idle_for(10ms)`: no record for so long. The worker does other work meanwhile.
[[nodiscard]] inline IdleFor idle_for(Duration time) noexcept {
    return IdleFor{time};
}

/// A coroutine that yields records: `co_yield record`, `co_yield idle_for(10ms)`, `co_return`.
/// Move-only; begins when it is resumed first.
template <class T>
class [[nodiscard]] Generator {
  public:
    using record_type = T;
    /// The result of next().
    enum class Found : std::uint8_t {
        record,       ///< A record: give_to() emits it.
        nothing_yet,  ///< It yielded idle_for(); see idle().
        end           ///< It is over.
    };

    class promise_type {
      public:
        Generator get_return_object() noexcept {
            return Generator{std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        // A yielded record lives until the coroutine is resumed.
        std::suspend_always yield_value(T&& record) noexcept {
            temporary_ = &record;
            return {};
        }
        std::suspend_always yield_value(const T& record) noexcept {
            constant_ = &record;
            return {};
        }
        std::suspend_always yield_value(IdleFor idle) noexcept {
            idle_ = idle.time;
            return {};
        }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { thrown_ = std::current_exception(); }
        /// A coroutine that awaits would be resumed by others than the source.
        void await_transform(auto&&) = delete;

      private:
        friend Generator;
        T* temporary_ = nullptr;
        const T* constant_ = nullptr;
        Duration idle_ = Duration::zero();
        std::exception_ptr thrown_;
    };

    /// The coroutine moves; `other` has none any more.
    Generator(Generator&& other) noexcept : coroutine_(std::exchange(other.coroutine_, {})) {}
    Generator& operator=(Generator&& other) noexcept {
        std::swap(coroutine_, other.coroutine_);
        return *this;
    }
    ~Generator() {
        if (coroutine_) coroutine_.destroy();
    }

    /// Runs the coroutine until it yields or is over. Throws what it throws.
    Found next() {
        promise_type& promise = coroutine_.promise();
        promise.temporary_ = nullptr;
        promise.constant_ = nullptr;
        coroutine_.resume();
        if (promise.thrown_) std::rethrow_exception(std::exchange(promise.thrown_, nullptr));
        if (coroutine_.done()) return Found::end;
        const bool has_record = promise.temporary_ != nullptr || promise.constant_ != nullptr;
        return has_record ? Found::record : Found::nothing_yet;
    }
    /// After Found::record, once.
    bool give_to(auto& emit) {
        promise_type& promise = coroutine_.promise();
        if (promise.temporary_ != nullptr) return emit(std::move(*promise.temporary_));
        return emit(*promise.constant_);
    }
    /// After Found::nothing_yet.
    [[nodiscard]] Duration idle() const noexcept { return coroutine_.promise().idle_; }

  private:
    explicit Generator(std::coroutine_handle<promise_type> coroutine) noexcept
        : coroutine_(coroutine) {}

    std::coroutine_handle<promise_type> coroutine_;
};

namespace detail {

template <class Result>
inline constexpr bool is_generator = false;
template <class T>
inline constexpr bool is_generator<Generator<T>> = true;

template <class F>
consteval bool makes_generators() {
    if constexpr (!std::copy_constructible<F>) {
        return operators::can_be_copied<F>();
    } else if constexpr (!Pullable<F>) {
        static_assert(Pullable<F>,
                      "from_generator needs a function that takes nothing, a const Context&, a "
                      "std::stop_token, or both in this order, and makes a Generator<T>");
        return false;
    } else if constexpr (!is_generator<PulledResult<F>>) {
        static_assert(is_generator<PulledResult<F>>,
                      "from_generator needs a function that makes a coroutine: Generator<T> f()");
        return false;
    } else if constexpr (operators::detail::HasState<F> || operators::HasFunctionTraits<F>) {
        static_assert(!operators::detail::HasState<F> && !operators::HasFunctionTraits<F>,
                      "from_generator calls the function once, to make the coroutine: state() and "
                      "traits of it would have no effect");
        return false;
    } else {
        using T = typename PulledResult<F>::record_type;
        static_assert(!points_to_text<T>,
                      "the text fields of a record that a coroutine yields would outlive their "
                      "text: yield records that own it (std::string, std::array<char, N>)");
        return !points_to_text<T>;
    }
}

/// The records of a coroutine. A copy has not begun.
template <class F>
class GeneratorSource : public PulledSource<F> {
    using Records = PulledResult<F>;

  public:
    using record_type = typename Records::record_type;
    static constexpr SourceTraits traits{.hears = events<Opened, Restored, Stopped>,
                                         .has = Has::blocks | Has::wake_at_ns,
                                         .no_snapshots = true};
    using PulledSource<F>::PulledSource;

    GeneratorSource(const GeneratorSource& other) : PulledSource<F>(other) {}
    GeneratorSource(GeneratorSource&&) noexcept = default;
    GeneratorSource& operator=(GeneratorSource&&) noexcept = default;

    using PulledSource<F>::on;
    void on(const Opened& opened) {
        running_ = std::make_unique<Running>(this->pulled(opened.context));
    }

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        using Found = typename Records::Found;
        if (wake_at_ns_ != 0 && now_ns() < wake_at_ns_) return SourceStatus::idle;
        wake_at_ns_ = 0;
        for (std::size_t left = this->records_of_poll(budget); left != 0; --left) {
            const Found found = running_->records.next();
            this->stamp_arrival(emit);
            switch (found) {
                case Found::record:
                    if (!running_->records.give_to(emit)) return this->emitted();
                    break;
                case Found::nothing_yet:
                    wake_at_ns_ = now_ns() + running_->records.idle().count();
                    return SourceStatus::idle;
                case Found::end:
                    running_.reset();
                    return SourceStatus::finished;
            }
        }
        return this->emitted();
    }

    [[nodiscard]] std::int64_t wake_at_ns() const noexcept { return wake_at_ns_; }
    /// Throws Error: no coroutine can be put where another stands.
    void on(Restored) {
        throw Error(
            "a source of from_generator cannot go on where another was: the place of a coroutine "
            "cannot be saved; from_callback with a function that has state(), or a source with "
            "poll() and state(), can go on");
    }
    /// Nothing by which it could go on: see on(Restored).
    auto state() { return std::tie(); }

  private:
    struct Running {
        explicit Running(Pulled<F> pulled) : make(std::move(pulled)), records(make()) {}
        Pulled<F> make;
        Records records;
    };

    std::unique_ptr<Running> running_;
    std::int64_t wake_at_ns_ = 0;
};

}  // namespace detail

/// A source of the records that a coroutine yields: `function` makes one for each replica.
template <class F>
[[nodiscard]] auto from_generator(F function, PulledOptions options = {}) {
    if constexpr (detail::makes_generators<F>()) {
        return detail::GeneratorSource<F>(std::move(function), options);
    }
}

}  // namespace strid
