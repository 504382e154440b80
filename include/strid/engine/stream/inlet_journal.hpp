// SPDX-License-Identifier: Apache-2.0
//
// The journal of an inlet, as bytes: records that were pushed, in blocks, as their codec has
// written them. A run that goes on reads from there what the run before has accepted.
//
// Owned by the source of the inlet; the scope of its run removes the files at the end of the
// stream. Threads: that of the source. Invariant: accepted() records lie in the journal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <strid/operator/run_scope.hpp>
#include <strid/state/journal.hpp>

namespace strid::detail {

class JournalLog;

/// Throws GraphError for options that cannot be, such as no folder.
void check_inlet_journal(const JournalOptions& options);

class InletJournal {
  public:
    /// Behind the records that were handed on, between two blocks.
    struct Place {
        std::uint64_t journal = 0;  // which one
        std::uint64_t bytes = 0;
        std::uint64_t records = 0;
    };
    /// Of a block.
    struct Records {
        std::size_t count;
        std::span<const std::byte> bytes;  // valid until the next call
    };
    /// Before the records of a block that is to be appended.
    static constexpr std::size_t header_bytes = 8;
    /// Of a block, with its header.
    static constexpr std::size_t block_bytes_max = std::size_t{64} << 20;

    /// `type`: the records, by name and layout. Throws GraphError for a run without snapshots;
    /// InputOutputError.
    InletJournal(const JournalOptions& options, const std::string& type, RunScope* run);

    [[nodiscard]] const Place& place() const noexcept { return place_; }
    /// Goes on from the place of a snapshot. Throws InputOutputError for another journal.
    void go_on(const Place& place);
    /// From the first run on.
    [[nodiscard]] std::uint64_t accepted() const noexcept;
    /// The next records that a run before has accepted. Nothing: all were read. Throws
    /// InputOutputError.
    [[nodiscard]] std::optional<Records> read_again();

    /// Appends `count` records behind room for the header; place() is then behind them. False:
    /// there is no room, and wake_at_ns() is when to try again. Throws InputOutputError.
    [[nodiscard]] bool append(std::vector<std::byte> block, std::size_t count);
    /// Nothing waits: writes to the disk what is due.
    void synchronize_if_due();
    /// When the source is to be polled next; 0: when something arrives.
    [[nodiscard]] std::int64_t wake_at_ns() const noexcept;
    /// Forgets what no snapshot needs.
    void begin_snapshot(std::uint64_t number);

  private:
    std::shared_ptr<JournalLog> log_;
    RunScope* run_;
    std::string type_;
    std::uint32_t type_crc_;
    Place place_;
};

}  // namespace strid::detail
