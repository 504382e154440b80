// SPDX-License-Identifier: Apache-2.0
//
// The destination of a record. A router is the last link of a fused chain: it chooses a slot of the
// output port and writes the record straight into the batch of the slot. It moves the record, or
// copies a constant one.
//
// The type of a router gives the meaning of the edge. The planner chooses the number of consumers
// and the policy by which a slot's batches spread over them; the port holds both.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <strid/base/hash.hpp>
#include <strid/base/heap_bytes.hpp>
#include <strid/engine/base/assert.hpp>
#include <strid/engine/base/prefetch.hpp>
#include <strid/engine/kernel/output_port.hpp>
#include <strid/engine/message/batch.hpp>
#include <strid/engine/operator/faults.hpp>
#include <strid/engine/operator/key_groups.hpp>
#include <strid/operator/callable.hpp>

namespace strid::operators {

/// How far ahead of the record being written the block's lines are fetched from the consumer's
/// core, which read them last. Measured: 512 bytes gain less, and none at all costs a quarter of
/// the rate. Near the end of a block this fetches the start of its neighbour, which costs less than
/// a check.
inline constexpr std::size_t claim_ahead_bytes = 1024;

/// Writes a record into the batch of a slot. The cost of an edge, per record: two comparisons, the
/// bytes of the record, and counting the heap memory of a record that owns some. Inlined: a call
/// costs a quarter of the rate as well.
template <class Physical, class... Parts>
[[gnu::always_inline]] inline void write(OutputPort& port, OutputPort::Slot& slot,
                                         Parts&&... parts) {
    if (slot.cursor == slot.end) [[unlikely]]
        port.renew(slot);
    prefetch_for_write(slot.cursor, claim_ahead_bytes);
    [[maybe_unused]] const auto* const written =
        ::new (static_cast<void*>(slot.cursor)) Physical{std::forward<Parts>(parts)...};
    slot.cursor += sizeof(Physical);
    if constexpr (owns_heap<Physical>) port.count_heap(slot, heap_bytes_of(*written));
}

/// Writes copies of the first of some records: at least one, as many as the slot's batch has room
/// for, and no more once the port has no spare block. Returns how many. The address of the next
/// record stays in a register; in memory it would take as long as the copy. `physical` makes the
/// record of the batch from the given one; if it throws, none of them is written.
template <class Physical, class T, class Make>
[[gnu::always_inline]] inline std::size_t write_some(OutputPort& port, OutputPort::Slot& slot,
                                                     std::span<const T> records, Make&& physical) {
    static_assert(std::is_trivially_copyable_v<T>);  // nothing to destroy if one is not written
    STRID_ASSERT(!records.empty());
    if (slot.cursor == slot.end) [[unlikely]]
        port.renew(slot);
    const auto room = static_cast<std::size_t>(slot.end - slot.cursor) / sizeof(Physical);
    const std::size_t count = port.spare() ? std::min(room, records.size()) : 1;
    std::byte* cursor = slot.cursor;
    for (const T& record : records.first(count)) {
        prefetch_for_write(cursor, claim_ahead_bytes);
        ::new (static_cast<void*>(cursor)) Physical(physical(record));
        cursor += sizeof(Physical);
    }
    slot.cursor = cursor;
    return count;
}

/// Size and destruction of the records of a port.
template <class Physical>
[[nodiscard]] constexpr OutputPort::RecordType record_type() noexcept {
    static_assert(alignof(Physical) <= cache_line_bytes, "records align to a cache line at most");
    return {sizeof(Physical), std::is_trivially_destructible_v<Physical>
                                  ? nullptr
                                  : &message::destroy_records<Physical>};
}

/// The end of a chain whose last stage is a sink.
struct NoRouter {
    static constexpr bool has_output = false;
};

/// One slot for all records: forward, rebalance and broadcast edges, by the slot's policy.
template <class T>
struct SingleSlotRouter {
    static constexpr bool has_output = true;
    using Physical = T;

    void bind(OutputPort&) noexcept {}
    template <class Record>  // T or const T
    [[gnu::always_inline]] void operator()(OutputPort& port, Record& record) {
        write<T>(port, port.slot(0), std::move(record));
    }
    /// As write_some().
    [[gnu::always_inline]] std::size_t some(OutputPort& port, std::span<const T> records) {
        return write_some<T>(port, port.slot(0), records, [](const T& record) { return record; });
    }
};

/// All records of a key to one replica, with the key's hash. `project` makes the record that is
/// sent.
template <class T, class KeyOf, class Project = std::identity>
class KeyByRouter {
  public:
    static constexpr bool has_output = true;
    using Sent = std::remove_cvref_t<std::invoke_result_t<const Project&, T>>;
    using Physical = message::Hashed<Sent>;

    /// `name` is that of the key function in an error.
    explicit KeyByRouter(KeyOf key_of, Project project = {}, std::string name = "key_by")
        : key_of_(std::move(key_of)), project_(std::move(project)), name_(std::move(name)) {}

    void bind(OutputPort& port) noexcept {
        for (std::size_t group = 0; group < key_groups; ++group) {
            slot_of_[group] = &port.slot(replica_of_group(group, port.slot_count()));
        }
    }
    template <class Record>  // T or const T
    [[gnu::always_inline]] void operator()(OutputPort& port, Record& record) {
        const std::uint64_t key_hash = hash(std::as_const(record));
        write<Physical>(port, *slot_of_[key_group_of(key_hash)], project_(std::move(record)),
                        key_hash);
    }
    /// As write_some(); with several slots as long as no record needs a missing block. Called if a
    /// source has many records at once and no operator is fused behind it (`emit.all` of a replay).
    [[gnu::always_inline]] std::size_t some(OutputPort& port, std::span<const T> records) {
        if (port.slot_count() != 1) return some_apart(port, records);
        return write_some<Physical>(port, port.slot(0), records, [this](const T& record) {
            return Physical{project_(record), hash(record)};
        });
    }

  private:
    [[nodiscard, gnu::always_inline]] std::uint64_t hash(const T& record) {
        // Also where a large unit leaves the compiler no room for it.
        const auto hash_key = [&]() __attribute__((always_inline)) {
            return hash_of(std::invoke(key_of_, record));
        };
        return guarded(name_, hash_key);
    }

    std::size_t some_apart(OutputPort& port, std::span<const T> records) {
        std::size_t written = 0;
        for (const T& record : records) {
            const std::uint64_t key_hash = hash(record);
            OutputPort::Slot& slot = *slot_of_[key_group_of(key_hash)];
            if (slot.cursor == slot.end && written != 0 && !port.spare()) break;
            write<Physical>(port, slot, project_(record), key_hash);
            ++written;
        }
        return written;
    }

    KeyOf key_of_;
    [[no_unique_address]] Project project_;
    std::string name_;
    std::array<OutputPort::Slot*, key_groups> slot_of_{};
};

/// To the branch, or the branches, that the user's function returns: slot i is branch i.
template <class T, class Choose>
class SplitRouter {
  public:
    static constexpr bool has_output = true;
    using Physical = T;
    using Choice = std::invoke_result_t<Choose&, const T&>;

    /// `name` is that of the function in an error.
    explicit SplitRouter(Choose choose, std::string name = "split")
        : choose_(std::move(choose)), name_(std::move(name)) {}

    void bind(OutputPort&) noexcept {}
    template <class Record>  // T or const T
    [[gnu::always_inline]] void operator()(OutputPort& port, Record& record) {
        if constexpr (!BranchIndex<Choice>) {
            for (const auto branch : choice(std::as_const(record))) {
                write<T>(port, checked(port, static_cast<std::size_t>(branch)),
                         std::as_const(record));
            }
        } else {
            const auto branch = static_cast<std::size_t>(choice(std::as_const(record)));
            write<T>(port, checked(port, branch), std::move(record));
        }
    }

  private:
    [[gnu::always_inline]] Choice choice(const T& record) {
        return guarded(name_, [&]() -> Choice { return std::invoke(choose_, record); });
    }
    OutputPort::Slot& checked(OutputPort& port, std::size_t branch) {
        if (branch < port.slot_count()) [[likely]]
            return port.slot(branch);
        guarded(name_, [&] {
            throw std::out_of_range("split chose branch " + std::to_string(branch) + " of " +
                                    std::to_string(port.slot_count()));
        });
        return port.slot(0);  // not reached
    }

    Choose choose_;
    std::string name_;
};

}  // namespace strid::operators
