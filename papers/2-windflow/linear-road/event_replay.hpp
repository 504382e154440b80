// SPDX-License-Identifier: Apache-2.0
//
// Events in memory, emitted pass after pass as one long input: each pass goes on in the minute
// behind the last one of the pass before. Replica i of n emits the expressways i, i + n, ..., so
// that the order within a road stays, and waits for the others where it is far ahead.
//
// Threads: the replicas share the events; the first one reads them, under a lock. One thread at a
// time for each replica; fraction_done() by any.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <stop_token>
#include <tuple>
#include <utility>
#include <vector>

#include <strid/base/clock.hpp>
#include <strid/base/error.hpp>
#include <strid/connector/pace.hpp>
#include <strid/connector/replay.hpp>
#include <strid/operator/context.hpp>
#include <strid/operator/source.hpp>

#include "in_step.hpp"
#include "records.hpp"

namespace strid::apps::linear_road {

class EventReplay {
  public:
    using record_type = Event;
    static constexpr SourceTraits traits{
        .hears = events<Opened>,
        .has = Has::wake_at_ns | Has::files | Has::fraction_done | Has::replicas_used,
        .no_snapshots = true};  // its input may be a pipe, and its duration is that of one run

    /// `source` is read to its end by open(), which throws what that throws. `by_one`: one replica
    /// emits all events in the order of the input.
    template <class Source>
    EventReplay(Source source, std::chrono::nanoseconds duration, bool by_one)
        : shared_(std::make_shared<Shared>()), duration_ns_(duration.count()), by_one_(by_one) {
        shared_->files = operators::files_of(source);
        shared_->read = [source = std::move(source)](Shared& into, const Opened& opened) {
            auto reading = source;
            const Context alone{.name = opened.context.name, .run = opened.context.run};
            operators::notify_source(reading, Opened{alone, opened.task, opened.stop});
            return operators::poll_to_end(reading, into, opened.stop);
        };
    }

    /// Where it is stopped there are no events, until it is opened again.
    void on(const Opened& opened) {
        const std::lock_guard lock{shared_->reading};
        if (!shared_->is_read || shared_->shares.size() != opened.context.parallelism) {
            shared_->clear(opened.context.parallelism, replicas_used(opened.context.parallelism));
            shared_->is_read = shared_->read(*shared_, opened);
            if (!shared_->is_read) shared_->clear(opened.context.parallelism, 1);
        }
        shared_->in_step.begin(opened.context.replica, opened.context.parallelism,
                               !shared_->shares[opened.context.replica].empty());
        replica_ = opened.context.replica;
        next_ = 0;
        shift_ = 0;
        end_ns_ = 0;
    }
    [[nodiscard]] std::size_t replicas_used(std::size_t replicas) const noexcept {
        return by_one_ ? 1 : replicas;
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
        // Where its duration is over the others wait for it, until theirs is.
        if (now >= end_ns_ || events.empty()) return SourceStatus::finished;
        if (next_ == events.size() && !begin_pass()) {
            shared_->in_step.finish(replica_);
            return SourceStatus::finished;
        }
        if (!shared_->in_step.go_to(replica_, events[next_].time + shift_)) {
            constexpr std::int64_t wait_ns = 100'000;
            wake_at_ns_ = now + wait_ns;
            return SourceStatus::idle;
        }
        const auto shift = static_cast<std::int32_t>(shift_);
        for (const std::size_t stop = std::min(next_ + budget, events.size()); next_ != stop;) {
            Event event = events[next_++];
            event.time += shift;
            if (!emit(std::move(event))) break;
        }
        return SourceStatus::more;
    }

    [[nodiscard]] std::int64_t wake_at_ns() const noexcept { return wake_at_ns_; }
    [[nodiscard]] double fraction_done() const noexcept { return fraction_done_.load(); }
    [[nodiscard]] std::vector<FileUse> files() const { return shared_->files; }
    auto state() { return std::tie(next_, shift_); }

  private:
    struct Shared {
        bool operator()(Event&& event) {
            if (count == events_max) {
                throw InputOutputError("the input does not fit half of the memory to be replayed");
            }
            ++count;
            const bool is_report = event.kind == Kind::position;
            const auto by = static_cast<std::size_t>(is_report ? event.expressway : event.car);
            shares[by % used].push_back(event);
            span = (std::int64_t{event.time} / 60 + 1) * 60;
            return true;
        }
        void ingress_at(std::int64_t /*ns*/) noexcept {}
        void count_malformed(std::uint64_t more) noexcept { malformed += more; }
        void clear(std::size_t replicas, std::size_t replicas_used) {
            shares.assign(replicas, {});
            used = replicas_used;
            count = malformed = 0;
        }

        std::mutex reading;
        /// False: it was stopped.
        std::function<bool(Shared&, const Opened&)> read;
        bool is_read = false;
        std::vector<FileUse> files;
        std::vector<std::vector<Event>> shares;  // by replica
        std::size_t used = 1;                    // of the replicas
        std::size_t events_max = half_of_memory_bytes() / sizeof(Event);
        std::size_t count = 0;
        std::uint64_t malformed = 0;
        std::int64_t span = 60;  // seconds of a pass
        InStep in_step;
    };

    /// False: times have no room for one more.
    [[nodiscard]] bool begin_pass() noexcept {
        if (shift_ + 2 * shared_->span > std::numeric_limits<std::int32_t>::max()) return false;
        shift_ += shared_->span;
        next_ = 0;
        return true;
    }

    std::shared_ptr<Shared> shared_;
    std::int64_t duration_ns_;
    bool by_one_;
    std::size_t replica_ = 0;
    std::size_t next_ = 0;
    std::int64_t shift_ = 0;  // seconds of the passes before
    std::int64_t end_ns_ = 0;
    std::int64_t wake_at_ns_ = 0;
    SharedFraction fraction_done_;
};

}  // namespace strid::apps::linear_road
