// SPDX-License-Identifier: Apache-2.0
//
// Window farming by hand, as paper 1 has it (3 and 4): an emitter, n workers and a collector, each
// a thread, and rings of pointers between them. The emitter finds the windows of a quote by its
// position among the quotes of its symbol, and sends it to their workers. Worker i has windows i,
// i + n, i + 2n, ... of every symbol and slides by n times the slide; it keeps its own copy of the
// quotes. The collector hands results on in the order of the windows of a symbol.
//
// How quotes travel is the carrier's, how results do the memory's; everything else is the same for
// all variants that are compared.
//
// An exception of the function or of the taker ends the computing; the threads go on to pass what
// travels, so that none waits for ever, and finish() throws it.
//
// Threads: emit, flush and finish on one.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <queue>
#include <span>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include <strid/engine/channel/spsc_ring.hpp>
#include <strid/window/aggregates/container.hpp>
#include <strid/window/spec.hpp>

#include "multicast.hpp"
#include "quote.hpp"

namespace strid::apps::trading {

struct FarmOptions {
    std::size_t workers = 1;
    std::uint64_t length = 1'000;
    std::uint64_t slide = 25;
    std::size_t in_flight = 2048;      ///< quotes that may wait for one worker
    std::size_t quotes_max = 1 << 20;  ///< in all: what static memory is acquired for
    static constexpr std::size_t result_slots = 256;  ///< of the ring from each worker
};

/// The windows that a position lies in, of all.
[[nodiscard]] inline Group group_of(const window::CountWindows& windows, std::uint64_t position,
                                    std::size_t workers) {
    const auto range = windows.containing(position);
    return {static_cast<std::size_t>(range.first % workers),
            static_cast<std::size_t>(std::min<std::uint64_t>(range.size(), workers))};
}

/// The windows of one worker. `Function` gives a Forecast of a span of quotes. With `has_all` the
/// worker gets quotes of no window of its own too and leaves them out.
template <class Function, bool has_all>
class WorkerWindows {
  public:
    WorkerWindows(const FarmOptions& options, std::size_t worker, Function function)
        : length_(options.length),
          stride_(options.slide * options.workers),
          before_first_(has_all ? worker * options.slide : 0),
          workers_(options.workers),
          worker_(worker),
          function_(std::move(function)) {}

    template <class Emit>
    void insert(const Quote& quote, Emit&& emit) {
        auto found = symbols_.find(quote.symbol);
        if (found == symbols_.end()) [[unlikely]] {
            found = symbols_.try_emplace(quote.symbol).first;
            found->second.skip = before_first_;
            found->second.window = worker_;
        }
        Symbol& symbol = found->second;
        if (symbol.skip != 0) {
            --symbol.skip;
            return;
        }
        symbol.quotes.insert(quote);
        if (symbol.quotes.size() != length_) return;
        emit(Prediction{quote.symbol, symbol.window,
                        std::invoke(function_, symbol.quotes.content())});
        symbol.window += workers_;
        symbol.quotes.expire(std::min(length_, stride_));
        if (has_all && stride_ > length_) symbol.skip = stride_ - length_;
    }

  private:
    struct Symbol {
        window::SpanContainer<Quote> quotes;
        std::uint64_t skip = 0;
        std::uint64_t window = 0;
    };

    std::uint64_t length_;
    std::uint64_t stride_;
    std::uint64_t before_first_;
    std::size_t workers_;
    std::size_t worker_;
    Function function_;
    boost::unordered_flat_map<std::uint64_t, Symbol> symbols_;
};

/// Hands predictions on in the order of the windows of their symbol.
class InWindowOrder {
  public:
    template <class Next>
    void take(const Prediction& prediction, Next&& next) {
        Symbol& symbol = symbols_[prediction.symbol];
        symbol.waiting.push(prediction);
        while (!symbol.waiting.empty() && symbol.waiting.top().window == symbol.next) {
            next(symbol.waiting.top());
            symbol.waiting.pop();
            ++symbol.next;
        }
    }

  private:
    struct Later {
        bool operator()(const Prediction& a, const Prediction& b) const noexcept {
            return a.window > b.window;
        }
    };
    struct Symbol {
        std::priority_queue<Prediction, std::vector<Prediction>, Later> waiting;
        std::uint64_t next = 0;
    };
    boost::unordered_flat_map<std::uint64_t, Symbol> symbols_;
};

/// `Take` is called with each prediction, in order, on the collector's thread, and its `idle()`, if
/// it has one, whenever none waits.
template <class Carrier, class ResultMemory, class Function, class Take>
class Farm {
    using Windows = WorkerWindows<Function, Carrier::to_all>;
    static_assert(std::is_trivially_destructible_v<Prediction>);

  public:
    Farm(const FarmOptions& options, const Function& function, Take take)
        : options_(options),
          windows_(window::CountWindows::sliding(options.length, options.slide)),
          quotes_({options.workers, options.in_flight, options.quotes_max}),
          take_(std::move(take)) {
        const std::size_t results_max = options.quotes_max / (options.slide * options.workers) + 1;
        for (std::size_t worker = 0; worker != options.workers; ++worker) {
            ways_back_.push_back(std::make_unique<WayBack>(results_max));
        }
        for (std::size_t worker = 0; worker != options.workers; ++worker) {
            threads_.emplace_back([this, worker, function] { work(worker, function); });
        }
        threads_.emplace_back([this] { collect(); });
    }
    Farm(const Farm&) = delete;
    Farm& operator=(const Farm&) = delete;
    ~Farm() {
        has_failed_.store(true, std::memory_order_relaxed);  // nothing more is computed
        end();
    }

    void emit(const Quote& quote) {
        if constexpr (Carrier::to_all) {
            quotes_.send(quote, Group{0, options_.workers});
        } else {
            const Group group = group_of(windows_, positions_[quote.symbol]++, options_.workers);
            if (group.size != 0) quotes_.send(quote, group);
        }
    }
    /// Sends the quotes that are held back to gather a batch.
    void flush() { quotes_.flush(); }
    /// Nothing more comes; waits until everything was taken. Throws the first exception of the
    /// function or of the taker.
    void finish() {
        end();
        if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    }
    /// Whether finish() would throw: nothing more is computed.
    [[nodiscard]] bool has_failed() const noexcept {
        // relaxed: the joins of finish() order the exception itself.
        return has_failed_.load(std::memory_order_relaxed);
    }

  private:
    /// From a worker to the collector, which gives the memory back.
    struct WayBack {
        explicit WayBack(std::size_t results_max)
            : ring(FarmOptions::result_slots),
              memory(make_memory<ResultMemory>(1, results_max, sizeof(Prediction))) {}
        channel::SpscRing<Prediction*> ring;
        std::unique_ptr<ResultMemory> memory;
    };

    void end() {
        if (threads_.empty()) return;
        quotes_.close();
        threads_.clear();
    }

    /// Calls `step`, unless one has failed.
    template <class Step>
    void guarded(Step&& step) noexcept {
        if (has_failed()) [[unlikely]]
            return;
        try {
            step();
        } catch (...) {
            const std::lock_guard lock(failure_mutex_);
            if (!failure_) failure_ = std::current_exception();
            has_failed_.store(true, std::memory_order_relaxed);
        }
    }

    void work(std::size_t worker, const Function& function) {
        Windows windows(options_, worker, function);
        WayBack& back = *ways_back_[worker];
        const auto emit = [&back](const Prediction& prediction) {
            void* const place = back.memory->allocate(sizeof(Prediction), alignof(Prediction));
            auto* const result = new (place) Prediction(prediction);
            Patience patience;
            while (back.ring.try_push(result) != channel::PushResult::ok) patience.wait();
        };
        quotes_.receive_all(
            worker, [&](const Quote& quote) { guarded([&] { windows.insert(quote, emit); }); });
        back.ring.close();
    }

    void collect() {
        InWindowOrder in_order;
        Patience patience;
        for (bool all_closed = false; !all_closed;) {
            all_closed = true;
            bool found_some = false;
            for (auto& back : ways_back_) {
                const auto results = back->ring.peek(FarmOptions::result_slots);
                for (Prediction* const result : results) {
                    guarded([&] { in_order.take(*result, take_); });
                    back->memory->deallocate(result, 0);
                }
                back->ring.release(results.size());
                found_some = found_some || !results.empty();
                all_closed = all_closed && results.empty() && back->ring.was_drained();
            }
            if (found_some) {
                patience.reset();
            } else {
                if constexpr (requires { take_.idle(); }) {
                    guarded([&] { take_.idle(); });
                }
                patience.wait();
            }
        }
    }

    FarmOptions options_;
    window::CountWindows windows_;
    Multicast<Carrier> quotes_;
    Take take_;
    std::vector<std::unique_ptr<WayBack>> ways_back_;                    // by worker
    boost::unordered_flat_map<std::uint64_t, std::uint64_t> positions_;  // of each symbol's next
    std::atomic<bool> has_failed_{false};
    std::mutex failure_mutex_;
    std::exception_ptr failure_;         // guarded by it until the threads are joined
    std::vector<std::jthread> threads_;  // the workers and the collector; last, so it ends first
};

}  // namespace strid::apps::trading
