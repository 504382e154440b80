// SPDX-License-Identifier: Apache-2.0
//
// A transport in memory: a table that is lost, refuses and is slow as a test says, and a text; and
// a run that takes snapshots by hand.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <strid/connector/byte_reader.hpp>
#include <strid/connector/row_output.hpp>
#include <strid/connector/transport.hpp>
#include <strid/operator/run_scope.hpp>

namespace strid::test {

/// The rows that a server has, and how it behaves.
struct Server {
    std::mutex mutex;
    std::vector<std::string> rows;  // committed
    std::map<std::string, std::uint64_t, std::less<>> epochs;
    std::vector<std::string> columns;  // of the last open()
    int lost_writes = 0;               // that fail, and the connection with them
    int lost_commits = 0;              // that are made, and the connection is lost
    int refused_opens = 0;
    bool refuses_rows = false;
    bool keeps_epochs = true;
    bool takes_rows_again = false;
    bool is_slow = false;
    int transactions = 0;
};

class MemoryTable final : public TransportOutput {
  public:
    explicit MemoryTable(Server& server) : server_(server) {}
    void open(const std::vector<std::string>& columns) override {
        EXPECT_FALSE(is_written_) << "by another thread";
        const std::lock_guard lock(server_.mutex);
        if (is_interrupted_) throw ConnectionLost("interrupted");
        if (server_.refused_opens > 0) {
            --server_.refused_opens;
            throw ConnectionLost("no server");
        }
        server_.columns = columns;
        rows_.clear();
    }
    void write(std::string_view rows) override {
        is_written_ = true;
        if (server_.is_slow) std::this_thread::sleep_for(std::chrono::milliseconds(200));
        is_written_ = false;
        const std::lock_guard lock(server_.mutex);
        if (server_.refuses_rows) throw InputOutputError("no such column");
        if (server_.lost_writes > 0) {
            --server_.lost_writes;
            throw ConnectionLost("the server is gone");
        }
        while (!rows.empty()) {
            const std::size_t end = rows.find('\n');
            rows_.emplace_back(rows.substr(0, end));
            rows.remove_prefix(end + 1);
        }
    }
    void commit() override { commit({}); }
    void commit(const Epoch& epoch) override {
        const std::lock_guard lock(server_.mutex);
        server_.rows.insert(server_.rows.end(), rows_.begin(), rows_.end());
        rows_.clear();
        ++server_.transactions;
        if (!epoch.stream.empty()) server_.epochs[std::string(epoch.stream)] = epoch.number;
        if (server_.lost_commits > 0) {
            --server_.lost_commits;
            throw ConnectionLost("the server has gone behind a commit");
        }
    }
    std::uint64_t last_epoch(std::string_view stream) override {
        const std::lock_guard lock(server_.mutex);
        const auto found = server_.epochs.find(stream);
        return found == server_.epochs.end() ? 0 : found->second;
    }
    [[nodiscard]] bool keeps_epochs() const noexcept override { return server_.keeps_epochs; }
    [[nodiscard]] bool takes_rows_again() const noexcept override {
        return server_.takes_rows_again;
    }
    void close() noexcept override { rows_.clear(); }
    void interrupt() noexcept override { is_interrupted_ = true; }

  private:
    Server& server_;
    std::vector<std::string> rows_;
    std::atomic<bool> is_interrupted_ = false;
    std::atomic<bool> is_written_ = false;
};

/// Bytes of a text, a few at a time.
class MemoryText final : public TransportInput {
  public:
    explicit MemoryText(std::string text) : text_(std::move(text)) {}
    ByteReader::Result read(std::span<char> out, int /*wait_ms*/) override {
        if ((++calls_ & 1) == 0) return {ByteReader::Status::waiting, 0};
        if (text_.empty()) return {ByteReader::Status::end, 0};
        const std::size_t bytes = std::min({text_.size(), out.size(), std::size_t{7}});
        std::copy_n(text_.begin(), bytes, out.begin());
        text_.erase(0, bytes);
        return {ByteReader::Status::read, bytes};
    }

  private:
    std::string text_;
    int calls_ = 0;
};

/// A run that takes snapshots, by hand.
struct Snapshotted {
    explicit Snapshotted(RunScope::Prepared before = {}, RunScope::Before numbers = {}) {
        scope.on_warning([this](const std::string& text) {
            const std::lock_guard lock(mutex);
            warnings.push_back(text);
        });
        scope.go_on_with(std::move(before), numbers);
    }
    /// One user begins the snapshot, and it is stored.
    RunScope::Prepared snapshot(RowOutput& output, std::uint64_t number, bool is_stored = true) {
        output.begin_snapshot(number);
        auto prepared = scope.prepare(number);
        if (is_stored) scope.stored(number);
        return prepared;
    }
    /// Its only user ends behind this snapshot, and so does the run.
    void end(RowOutput& output, std::uint64_t snapshot) {
        output.close(snapshot);
        (void)scope.prepare(snapshot + 1);
        scope.stored(snapshot + 1);
        scope.commit();
    }
    std::mutex mutex;
    std::vector<std::string> warnings;
    RunScope scope;
};

/// Tables and texts at addresses `memory:`.
class TableTest : public testing::Test {
  protected:
    TableTest() {
        add_transport({.scheme = "memory",
                       .input =
                           [](TransportAddress address) {
                               return std::make_unique<MemoryText>(address.take("text"));
                           },
                       .output =
                           [this](const TransportAddress&) {
                               return std::make_unique<MemoryTable>(server);
                           }});
    }
    ~TableTest() override { add_transport({.scheme = "memory"}); }

    static std::shared_ptr<RowOutput> table(Writing writing = Writing::whole) {
        return make_row_output("memory:?table=rows", writing);
    }
    /// Waits until a condition of the server holds, a minute at most.
    template <class Condition>
    void wait_until(Condition condition) {
        for (int i = 0; i != 6'000; ++i) {
            {
                const std::lock_guard lock(server.mutex);
                if (condition()) return;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        FAIL() << "it does not come";
    }

    Server server;
};

}  // namespace strid::test
