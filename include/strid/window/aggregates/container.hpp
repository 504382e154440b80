// SPDX-License-Identifier: Apache-2.0
//
// The container of the records of a window of full content: the library's buffer, or one of the
// user's (paper 1, section 3.1: insert, expire, reset, size, content).
//
// Threads: only the task of the node; each key has a container of its own.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <vector>

#include <strid/state/codec.hpp>

namespace strid::window {

/// A container of the records of one window that slides: `insert` adds the newest, `expire(n)` lets
/// the n oldest go, at most size() of them; `reset` removes all; `content()` is what the window
/// function is given. Copies are made of an empty one, for each key and for each replica. `reset`
/// is called where a window starts anew: for a window by itself (a session, a window of everything,
/// one that fires again), where a late record came between those that are in, and for a key that
/// comes again. Records are inserted again after it.
///
/// Records are inserted in the order that window/aggregates/content.hpp describes, and expire in
/// the order in which they were inserted. `insert` copies what it keeps: the record is valid for
/// the call. The result of `content()` may refer to the container; it is used until the window
/// function returns. An exception of any of them ends the run.
template <class C, class T>
concept WindowContainer =
    std::copy_constructible<C> &&
    requires(C& container, const C& asked, const T& record, std::size_t count) {
        container.insert(record);
        container.expire(count);
        container.reset();
        { asked.size() } -> std::convertible_to<std::size_t>;
        asked.content();
    };

/// The records side by side in memory: `content()` is a span. Amortised O(1) for each record that
/// comes and goes; at most twice the memory of the largest window.
template <class T>
class SpanContainer {
  public:
    /// Adds a record behind the others. O(1), amortised.
    void insert(const T& record) {
        // Rather than grow, move down: the expired records are at least as many as the others.
        if (records_.size() == records_.capacity() && 2 * first_ >= records_.size()) {
            records_.erase(records_.begin(),
                           records_.begin() + static_cast<std::ptrdiff_t>(first_));
            first_ = 0;
        }
        records_.push_back(record);
    }
    /// Removes the `count` oldest records; `count` <= size().
    void expire(std::size_t count) noexcept { first_ += count; }
    /// Removes all records and keeps the memory.
    void reset() noexcept {
        records_.clear();
        first_ = 0;
    }
    /// As strid/state/codec.hpp says.
    void save(StateWriter& writer) const
        requires(state::has_codec<T>())
    {
        state::save(writer, std::vector<T>(content().begin(), content().end()));
    }
    /// As strid/state/codec.hpp says. Throws StateError.
    void load(StateReader& reader)
        requires(state::has_codec<T>())
    {
        reset();
        state::load(reader, records_);
    }
    /// How many records are in it.
    [[nodiscard]] std::size_t size() const noexcept { return records_.size() - first_; }
    /// The records, oldest first, valid until the next change.
    [[nodiscard]] std::span<const T> content() const noexcept {
        return std::span<const T>(records_).subspan(first_);
    }

  private:
    std::vector<T> records_;
    std::size_t first_ = 0;  // the records before it have expired
};

}  // namespace strid::window
