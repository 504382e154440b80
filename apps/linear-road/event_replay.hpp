// SPDX-License-Identifier: Apache-2.0
//
// Events in memory, emitted pass after pass as one long input: each pass goes on in the minute
// behind the last one of the pass before. Replica i of n emits the expressways i, i + n, ..., so
// that the order within a road stays.
//
// Threads: the replicas share the events; the first one reads them, under a lock. One thread at a
// time for each replica; fraction_done() by any.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include <strid/base/clock.hpp>
#include <strid/base/error.hpp>
#include <strid/connector/pace.hpp>
#include <strid/connector/replay.hpp>
#include <strid/operator/context.hpp>
#include <strid/operator/source.hpp>

#include "records.hpp"

namespace strid::apps::linear_road {

class EventReplay {
  public:
    using record_type = Event;

    /// `source` is read to its end by open(), which throws what that throws.
    template <class Source>
    EventReplay(Source source, std::chrono::nanoseconds duration)
        : shared_(std::make_shared<Shared>()), duration_ns_(duration.count()) {
        shared_->files = operators::files_of(source);
        shared_->read = [source = std::move(source)](Shared& into, const Context& context,
                                                     const std::stop_token& stop) mutable {
            read_all(source, into, context, stop);
        };
    }

    void open(const Context& context, const std::stop_token& stop = {}) {
        const std::lock_guard lock{shared_->reading};
        if (shared_->shares.size() != context.parallelism) {
            shared_->shares.assign(context.parallelism, {});
            shared_->count = shared_->malformed = 0;
            shared_->read(*shared_, context, stop);
        }
        replica_ = context.replica;
        next_ = 0;
        shift_ = 0;
        end_ns_ = 0;
    }

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        const std::vector<Event>& events = shared_->shares[replica_];
        const std::int64_t now = now_ns();
        if (end_ns_ == 0) {
            end_ns_ = now + duration_ns_;
            if (replica_ == 0 && shared_->malformed > 0) emit.count_malformed(shared_->malformed);
        }
        fraction_done_.store(std::min(
            1.0, 1 - static_cast<double>(end_ns_ - now) / static_cast<double>(duration_ns_)));
        if (now >= end_ns_ || events.empty()) return SourceStatus::finished;
        for (; budget > 0; --budget) {
            if (next_ == events.size()) {
                next_ = 0;
                if (shift_ > std::numeric_limits<std::int32_t>::max() - 2 * shared_->span) {
                    return SourceStatus::finished;  // no time is left
                }
                shift_ += shared_->span;
            }
            Event event = events[next_++];
            event.time += shift_;
            if (!emit(std::move(event))) break;
        }
        return SourceStatus::more;
    }

    [[nodiscard]] double fraction_done() const noexcept { return fraction_done_.load(); }
    [[nodiscard]] std::vector<FileUse> files() const { return shared_->files; }

  private:
    struct Shared {
        bool operator()(Event&& event) {
            if (count == events_max) {
                throw InputOutputError("the input does not fit half of the memory to be replayed");
            }
            ++count;
            const bool is_report = event.kind == Kind::position;
            const auto by = static_cast<std::size_t>(is_report ? event.expressway : event.car);
            shares[by % shares.size()].push_back(event);
            span = (event.time / 60 + 1) * 60;
            return true;
        }
        void born_at(std::int64_t /*ns*/) noexcept {}
        void count_malformed(std::uint64_t more) noexcept { malformed += more; }

        std::mutex reading;
        std::function<void(Shared&, const Context&, const std::stop_token&)> read;
        std::vector<FileUse> files;
        std::vector<std::vector<Event>> shares;  // by replica
        std::size_t events_max = half_of_memory_bytes() / sizeof(Event);
        std::size_t count = 0;
        std::uint64_t malformed = 0;
        std::int32_t span = 60;  // seconds of a pass
    };

    template <class Source>
    static void read_all(Source source, Shared& into, const Context& context,
                         const std::stop_token& stop) {
        operators::open_source(source, {.name = context.name, .run = context.run}, stop);
        constexpr std::size_t budget = 4096;
        while (!stop.stop_requested()) {
            const SourceStatus status = source.poll(into, budget);
            if (status == SourceStatus::finished) return;
            if (status == SourceStatus::idle)
                std::this_thread::sleep_for(std::chrono::milliseconds{1});
        }
    }

    std::shared_ptr<Shared> shared_;
    std::int64_t duration_ns_;
    std::size_t replica_ = 0;
    std::size_t next_ = 0;
    std::int32_t shift_ = 0;  // seconds of the passes before
    std::int64_t end_ns_ = 0;
    SharedFraction fraction_done_;
};

}  // namespace strid::apps::linear_road
