// SPDX-License-Identifier: Apache-2.0
//
// The head of a fused chain: a source that is polled, or the batches of an input port; and the
// emitter of a source during one poll.
//
// Threads: only the task of the node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include <strid/base/watermark.hpp>
#include <strid/engine/kernel/node.hpp>
#include <strid/engine/kernel/split_clock.hpp>
#include <strid/engine/operator/declared.hpp>
#include <strid/memory/text_arena.hpp>
#include <strid/operator/source.hpp>

namespace strid::operators {

/// The head of a chain that polls a source.
template <class S>
struct SourceHead {
    using Source = S;
    using Arrived = typename S::record_type;
    static constexpr std::size_t operators = 1;
    static constexpr bool drains = S::traits.drains;
    static constexpr bool awaits_outside = S::traits.awaits_outside;

    S source;
};

/// The head of a chain that receives batches of `T` (for a keyed edge: of Hashed records).
template <class T>
struct InputHead {
    using Arrived = T;
    static constexpr std::size_t operators = 0;
    static constexpr bool drains = false;
    static constexpr bool awaits_outside = false;
};

/// The emitter of a source. `Passage` is the chain's run, `Record` the type of the source's
/// records; `port` is null if the chain ends in a sink. A constant record goes straight into the
/// batch if there is no stage between.
template <class Passage, class Record, bool has_stages>
class SourceEmit {
  public:
    /// `progress`: the last that the source reported. The poll began at `start_ns`.
    SourceEmit(Passage& passage, OutputPort* port, OperatorCounts& counts, Progress& progress,
               SplitClock& split, std::int64_t start_ns) noexcept
        : passage_(&passage),
          port_(port),
          counts_(&counts),
          progress_(&progress),
          split_(&split),
          ingress_ns_(start_ns) {}

    [[gnu::always_inline]] bool operator()(Record&& record) {
        ++count_;
        passage_->pass(record);
        return passage_->ready();
    }
    [[gnu::always_inline]] bool operator()(const Record& record) {
        if constexpr (has_stages) {
            return (*this)(Record(record));
        } else {
            ++count_;
            passage_->pass(record);
            return passage_->ready();
        }
    }
    /// Copies of the first of consecutive records, while there is room; returns how many.
    [[gnu::always_inline]] std::size_t all(std::span<const Record> records) {
        std::size_t emitted = 0;
        while (emitted != records.size() && passage_->ready()) {
            if constexpr (std::is_trivially_copyable_v<Record> &&
                          requires { passage_->pass_some(records); }) {
                const std::size_t some = passage_->pass_some(records.subspan(emitted));
                emitted += some;
                count_ += some;
            } else {
                if (!(*this)(records[emitted++])) break;
            }
        }
        return emitted;
    }
    void keep_alive(const memory::TextReference& text) {
        if (port_ != nullptr) port_->keep_alive(text);
    }
    void ingress_at(std::int64_t ns) noexcept {
        if (count_ == 0 && ns > ingress_ns_) split_->waited_until(ns);
        if (count_ == 0 || ns < ingress_ns_) ingress_ns_ = ns;
        if (port_ != nullptr) port_->begin_input(ns);
    }
    void count_malformed(std::uint64_t records) noexcept { counts_->malformed.add(records); }
    void watermark(EventTime time) {
        if (time < progress_->watermark) throw WatermarkError(time, progress_->watermark);
        say({time, false});
    }
    void idle() { say({progress_->watermark, true}); }

    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    [[nodiscard]] std::int64_t ingress_ns() const noexcept { return ingress_ns_; }

  private:
    /// The progress decides which of the records that follow are late. If no stage here uses it,
    /// nor has a time of its own, these records begin a new batch.
    void say(const Progress& progress) {
        if (progress == *progress_) return;
        *progress_ = progress;
        if (!passage_->on_progress(progress) && port_ != nullptr) port_->assert_progress(progress);
    }

    Passage* passage_;
    OutputPort* port_;
    OperatorCounts* counts_;
    Progress* progress_;
    SplitClock* split_;
    std::uint64_t count_ = 0;
    std::int64_t ingress_ns_;
};

}  // namespace strid::operators
