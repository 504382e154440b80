// SPDX-License-Identifier: Apache-2.0
//
// Rows as entries of a stream. Threads: one at a time, but for interrupt().
//
// Rows are added by transactions, MULTI to EXEC, each with a number: that of an epoch, or of a
// piece of the rows of a run without snapshots. The number lies under a key of the stream of rows,
// with the name of this output, and is set by the same transaction. The key is watched from before
// the rows are sent: of two connections that add a transaction, one finds the key changed, also
// where the other one is a lost connection of this output whose bytes the server still has.
//
// Invariant: `last_` is the number under the key while this output is the owner of the key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <strid/connector/transport.hpp>
#include <strid/engine/connector/csv_row.hpp>
#include <strid/engine/connector/message_rows.hpp>

#include "client.hpp"
#include "entry_id.hpp"

namespace strid::redis {

class StreamOutput final : public TransportOutput {
  public:
    /// Throws GraphError.
    explicit StreamOutput(TransportAddress address);

    void open(const std::vector<std::string>& columns) override;
    void write(std::string_view rows) override;
    /// Nothing: each write() of a run without snapshots is a transaction.
    void commit() override {}
    void commit(const Epoch& epoch) override;
    /// Makes this output the owner of the key: another one of the stream adds no rows from then on.
    [[nodiscard]] std::uint64_t last_epoch(std::string_view stream) override;
    /// A transaction has a number, by which one is known that has come.
    [[nodiscard]] bool takes_rows_again() const noexcept override { return true; }
    void close() noexcept override;
    void interrupt() noexcept override { client_.interrupt(); }

  private:
    /// Its options, which are taken.
    struct Part {
        explicit Part(TransportAddress& address);
        std::string field;
        std::uint64_t entries_max = 0;                // 0: no bound
        std::optional<detail::MessageRows> messages;  // of one field
    };
    /// The value of the key.
    struct Mark {
        std::uint64_t number = 0;
        std::string owner;
        bool operator==(const Mark&) const = default;
    };

    void begin_stream(std::string_view stream);
    [[nodiscard]] Mark mark();
    [[nodiscard]] Mark watched_mark();
    [[nodiscard]] Mark read_mark(const ::redisReply& reply) const;
    void begin_transaction();
    [[nodiscard]] bool end_transaction(std::uint64_t number);
    void note_ended(const ::redisReply& results, std::uint64_t number);
    void send_rows(std::string_view rows);
    void send_fields(std::vector<CsvField>& fields);
    void begin_entry(std::size_t fields);
    void take_replies();
    [[noreturn]] void fail_of_fence(const Mark& found) const;

    Part part_;
    const Place place_;
    Client client_;
    detail::RowsOfText rows_;
    std::vector<std::string> columns_;
    const std::string name_;  // of this output
    std::string stream_;      // of rows
    std::string key_;
    bool by_epoch_ = false;
    bool is_owner_ = false;
    bool is_begun_ = false;   // a transaction
    bool has_come_ = false;   // it is there already, by a connection that was lost
    bool is_unsure_ = false;  // the last one may be there
    std::uint64_t last_ = 0;
};

}  // namespace strid::redis
