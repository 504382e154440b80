// SPDX-License-Identifier: Apache-2.0
//
// The class of the windows of full content (window/aggregates/content.hpp): an aggregate whose
// state is the list of the records of a pane.
//
// Threads: only the task of the node; each replica has its own copy of the function.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include <strid/engine/base/member_pointer.hpp>
#include <strid/engine/base/text_fields.hpp>
#include <strid/engine/window/aggregates/record_list.hpp>
#include <strid/engine/window/structures/flat_ring.hpp>
#include <strid/operator/callable.hpp>
#include <strid/window/aggregates/aggregate.hpp>
#include <strid/window/aggregates/container.hpp>

namespace strid::window {

/// The order of the records of a pane: as they came.
struct OrderOfArrival {};

/// Records kept in a `C`, in the order of `TimeOf`. `Call` says how its function is called.
template <class T, class C, class Call, class TimeOf>
class Content : public Call {
    static_assert((refuse_member_pointer<TimeOf>(), true));
    static_assert(!points_to_text<T>,
                  "windows of full content keep records longer than the batches that their text "
                  "fields point to: map them to records that own it (std::string)");
    static constexpr bool by_time = !std::is_same_v<TimeOf, OrderOfArrival>;

  public:
    using State = RecordList<T>;
    static constexpr bool local_states = true;
    /// The sliding structure: the container, and the number of records of each pane.
    class Sliding;
    using InOrderStructure = Sliding;

    Content(C container, Call call, TimeOf time_of)
        : Call(std::move(call)),
          container_(std::move(container)),
          time_of_(std::move(time_of)),
          kept_(std::make_unique<Kept>(Kept{{}, container_})) {}
    /// A copy has a pool of its own: it is another replica's.
    Content(const Content& other) : Content(other.container_, other, other.time_of_) {}
    Content(Content&&) noexcept = default;

    [[nodiscard]] State identity() const { return State(kept_->pool); }
    [[nodiscard]] State lift(const T& record) const {
        State alone = identity();
        alone.add(record);
        return alone;
    }
    void add(State& state, const T& record) const {
        if constexpr (by_time) {
            state.add_in_order(record, [this](const T& a, const T& b) {
                return std::invoke(time_of_, a) > std::invoke(time_of_, b);
            });
        } else {
            state.add(record);
        }
    }
    /// Also where the older are of a later time: sessions become one in any order.
    [[nodiscard]] State combine(const State& older, const State& newer) const {
        State both = older;
        if constexpr (by_time) {
            for (const T& record : newer) add(both, record);
        } else {
            both.append(newer);
        }
        return both;
    }

    using Call::give;
    using Call::lower;
    /// A window by itself, of the records in a list.
    template <class K, class Bounds>
    [[nodiscard]] auto lower(const K& key, const Bounds& bounds, const State& records) const {
        return Call::lower(key, bounds, filled(records));
    }
    template <class K, class Bounds, class Take>
    void give(const K& key, const Bounds& bounds, const State& records, const Take& take) const {
        Call::give(key, bounds, filled(records), take);
    }

  private:
    [[nodiscard]] const C& filled(const State& records) const {
        kept_->alone.reset();
        for (const T& record : records) kept_->alone.insert(record);
        return kept_->alone;
    }

    /// Memory that is used again, so that windows allocate nothing in the long run.
    struct Kept {
        RecordPool<T> pool;
        C alone;  // of the last window by itself
    };

    C container_;  // the prototype: empty
    [[no_unique_address]] TimeOf time_of_;
    std::unique_ptr<Kept> kept_;
};

template <class T, class C, class Call, class TimeOf>
class Content<T, C, Call, TimeOf>::Sliding {
  public:
    using State = RecordList<T>;
    static constexpr const char* how = "slides as a container of its records";

    explicit Sliding(const Content& aggregate) : container_(aggregate.container_) {}

    void insert(const State& pane) {
        for (const T& record : pane) container_.insert(record);
        panes_.push_back(pane.size());
    }
    void evict() {
        container_.expire(panes_.front());
        panes_.pop_front();
    }
    void reset() {
        container_.reset();
        panes_.clear();
    }
    [[nodiscard]] const C& query() const noexcept { return container_; }
    [[nodiscard]] std::size_t size() const noexcept { return panes_.size(); }
    auto state() { return std::tie(container_, panes_); }

  private:
    C container_;
    FlatRing<std::size_t> panes_;
};

/// A function that gives the value of a window: `f(content)` or `f(key, bounds, content)`.
template <class F>
struct OneValue {
    F function;

    template <class K, class Bounds, class C>
    [[nodiscard]] auto lower(const K& key, const Bounds& bounds, const C& container) const {
        if constexpr (std::is_invocable_v<const F&, decltype(container.content())>) {
            return std::invoke(function, container.content());
        } else {
            static_assert(std::is_invocable_v<const F&, const K&, const Bounds&,
                                              decltype(container.content())>,
                          "the function of a window is called as f(content) or f(key, bounds, "
                          "content), and is const");
            return std::invoke(function, key, bounds, container.content());
        }
    }
    void give() const {}
};

/// A function that emits any number of `U`: `f(key, bounds, content, emit)`.
template <class U, class F>
struct ManyValues {
    using Value = U;
    F function;

    template <class K, class Bounds, class C, class Take>
    void give(const K& key, const Bounds& bounds, const C& container, const Take& take) const {
        auto hand_on = [&take](U value) { take(std::move(value)); };
        Emitter<U> emit{hand_on};
        static_assert(std::is_invocable_v<const F&, const K&, const Bounds&,
                                          decltype(container.content()), Emitter<U>&>,
                      "the function of a process window is called as f(key, bounds, content, "
                      "emit), and is const");
        std::invoke(function, key, bounds, container.content(), emit);
    }
    void lower() const {}
};

}  // namespace strid::window
