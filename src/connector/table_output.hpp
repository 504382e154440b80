// SPDX-License-Identifier: Apache-2.0
//
// Rows that go into a table by a transport (connector/transport.hpp). Private to the connector
// room.
//
// Without snapshots it is as with a file: written whole, the rows of the run are one transaction,
// which ends when the run has ended well; live, each append is one.
//
// With snapshots the rows before a snapshot are an epoch. They are kept here, and in the snapshot,
// until it is stored; then a thread of this object adds them to the table, with the number of the
// epoch in the same transaction. A connection that is lost is made anew as long as it takes; rows
// wait meanwhile, and behind `held_bytes_max` of them so does the graph. In the simulation, which
// has no other threads, the thread that stores snapshots does it. Epochs that an earlier run has
// left go into the table when the output begins; the thread adds them where no number is kept.
//
// Invariant: an epoch that the table has is in a snapshot that was stored; one that it does not
// have is held here, and was in each snapshot since.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <strid/connector/row_output.hpp>
#include <strid/connector/transport.hpp>

namespace strid::detail {

class TableOutput final : public RowOutput {
  public:
    /// So many bytes of rows that the table has not are held; more are where a snapshot is not
    /// stored for so long.
    static constexpr std::size_t held_bytes_max = std::size_t{64} << 20;

    /// Connects to nothing. Throws GraphError.
    TableOutput(std::string address, Writing writing);
    ~TableOutput() override;

    void commit() override;
    void discard() noexcept override;
    [[nodiscard]] std::string name() const override { return result_; }
    void snapshot_begins(std::uint64_t snapshot) noexcept override;
    void prepare(std::uint64_t snapshot, StateWriter& writer) override;
    void snapshot_ended(std::uint64_t snapshot, bool is_stored) noexcept override;
    void suspend() noexcept override;

    [[nodiscard]] bool may_block() const noexcept override { return true; }
    [[nodiscard]] std::vector<FileUse> uses() const override { return {}; }

  private:
    struct Epoch {
        std::uint64_t number = 0;
        std::shared_ptr<const std::string> rows;
    };

    void begin() override;
    [[nodiscard]] bool is_open() const noexcept override { return is_open_; }
    void write(std::string_view rows) override;
    void cut(std::uint64_t snapshot) override;
    void end() override;
    void let_go() noexcept override;

    void begin_epochs();
    void go_on(const std::vector<std::byte>& before);
    void take_columns();
    void write_at_once(std::string_view rows);
    void write_with_patience(std::string_view rows);
    void commit_at_once();
    void commit_rows();
    void end_epoch(std::uint64_t number);
    void wait_for_room();
    void set_held_bytes(std::size_t bytes) noexcept;
    [[nodiscard]] bool has_work() const noexcept;
    void add_epochs(const std::stop_token& stop);
    void add_epoch(const Epoch& epoch, bool is_new);
    void disconnect() noexcept;

    const std::string address_;
    const std::string result_;  // the name of its rows in a snapshot
    const Writing writing_;
    std::unique_ptr<TransportOutput> table_;  // of this run
    std::shared_ptr<Connection> connection_;  // the same; null: there is no run
    // Under mutex_:
    bool is_open_ = false;
    bool by_epoch_ = false;
    std::vector<std::string> columns_;
    std::exception_ptr failure_;
    std::string stream_;
    std::string rows_;              // of the epoch that has not ended
    std::deque<Epoch> epochs_;      // that the table does not have
    std::size_t held_bytes_ = 0;    // of both
    std::uint64_t stored_ = 0;      // epochs up to this one go into the table
    std::uint64_t added_ = 0;       // the last one that is known to be there
    std::uint64_t begun_ = 0;       // the last snapshot whose barrier is on its way
    bool has_asked_ = false;        // for a snapshot
    bool is_to_be_opened_ = false;  // with columns that came late, before the next epoch
    std::condition_variable_any changed_;
    // By the thread that begins and ends the output:
    std::optional<std::stop_callback<std::function<void()>>> on_interruption_;
    std::jthread thread_;
};

}  // namespace strid::detail
