// SPDX-License-Identifier: Apache-2.0
//
// The collector behind replicas that share the windows of a stream (papers 1 and 2: ordered
// collection): results go on in the order in which one replica would have given them.
//
// Threads: only the task of the node, which has one replica.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <strid/base/hash.hpp>
#include <strid/operator/key_table.hpp>
#include <strid/operator/stage.hpp>
#include <strid/window/spec.hpp>

namespace strid::window {

/// Windows of time in the order of their ends, windows of the same end as they came. A result waits
/// until the watermark says that no replica has an earlier one; one that comes again for late
/// records passes at once. O(log results waiting) each.
template <class Result>
class OrderedByTime {
  public:
    static constexpr bool selective = true;

    template <class Next>
    void operator()(Result& result, Next&& next) {
        if (result.window.end <= watermark_) {
            next(result);
            return;
        }
        waiting_.push_back({came_++, std::move(result)});
        std::push_heap(waiting_.begin(), waiting_.end(), later);
    }

    template <class Next, class Ready>
    bool advance(EventTime watermark, Next&& next, Ready&& ready) {
        if (!release(watermark, next, ready)) return false;
        watermark_ = watermark;
        return true;
    }
    template <class Next, class Ready>
    bool finish(Next&& next, Ready&& ready) {
        return release(EventTime::latest(), next, ready);
    }

  private:
    struct Waiting {
        std::uint64_t came;
        Result result;
    };
    static bool later(const Waiting& a, const Waiting& b) noexcept {
        if (a.result.window.end != b.result.window.end) {
            return a.result.window.end > b.result.window.end;
        }
        return a.came > b.came;
    }

    template <class Next, class Ready>
    bool release(EventTime watermark, Next& next, Ready& ready) {
        while (!waiting_.empty() && waiting_.front().result.window.end <= watermark) {
            if (!ready()) return false;
            std::pop_heap(waiting_.begin(), waiting_.end(), later);
            Result result = std::move(waiting_.back().result);
            waiting_.pop_back();
            next(result);
        }
        return true;
    }

    std::vector<Waiting> waiting_;  // a heap: the next to go on stands first
    std::uint64_t came_ = 0;
    EventTime watermark_ = EventTime::earliest();
};

/// Windows of counts in the order of their positions, for each key: each window of a key comes
/// exactly once, so a result waits for the one before it. O(log results of the key waiting) each.
template <class Result, class K>
class OrderedByCount {
  public:
    static constexpr bool selective = true;

    explicit OrderedByCount(std::uint64_t slide) : slide_(slide) {}

    template <class Next>
    void operator()(Result& result, Next&& next) {
        auto& key =
            table_.find_or_make(result.key, hash_of(result.key), [] { return KeyState{}; }).second;
        if (result.window.start != key.next) {
            key.waiting.push_back(std::move(result));
            std::push_heap(key.waiting.begin(), key.waiting.end(), later);
            return;
        }
        next(result);
        key.next += slide_;
        while (!key.waiting.empty() && key.waiting.front().window.start == key.next) {
            std::pop_heap(key.waiting.begin(), key.waiting.end(), later);
            Result following = std::move(key.waiting.back());
            key.waiting.pop_back();
            next(following);
            key.next += slide_;
        }
    }

  private:
    struct KeyState {
        std::uint64_t next = 0;
        std::vector<Result> waiting;  // a heap: the earliest stands first
    };
    static bool later(const Result& a, const Result& b) noexcept {
        return a.window.start > b.window.start;
    }

    std::uint64_t slide_;
    operators::KeyTable<K, KeyState> table_;
};

}  // namespace strid::window
