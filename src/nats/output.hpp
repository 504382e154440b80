// SPDX-License-Identifier: Apache-2.0
//
// Rows as messages of a stream. Threads: one at a time, but for interrupt().
//
// A message has an id, `STREAM-EPOCH-PART`: the server drops one that comes again within the
// duplicate window of its stream. Beyond it, the ids of the last epoch are read from the stream
// itself where the last message of the subjects is one of this output: its headers say behind which
// number the epoch begins, and which part ends it. The rows of an epoch lie in the snapshot, so a
// part is always one row.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <strid/connector/transport.hpp>
#include <strid/engine/connector/message_rows.hpp>

#include "client.hpp"

namespace strid::nats {

class StreamOutput final : public TransportOutput {
  public:
    /// Throws GraphError.
    explicit StreamOutput(TransportAddress address);
    ~StreamOutput() override { close(); }

    void open(const std::vector<std::string>& columns) override;
    void write(std::string_view rows) override;
    void commit() override;
    /// Sends only the rows that the stream has not.
    void commit(const Epoch& epoch) override;
    /// The server keeps no number.
    [[nodiscard]] bool keeps_epochs() const noexcept override { return false; }
    /// Asked of a run that takes snapshots: the last epoch that is whole, as far as the stream can
    /// say. Notes which rows of the next one are there.
    [[nodiscard]] std::uint64_t last_epoch(std::string_view stream) override;
    void close() noexcept override;
    void interrupt() noexcept override {
        is_interrupted_.store(true, std::memory_order_relaxed);  // orders nothing
    }

  private:
    struct Sent {
        std::string subject;
        std::string payload;
        bool ends_epoch = false;
    };
    /// An epoch of this stream that was begun.
    struct Begun {
        std::uint64_t number = 0;
        std::uint64_t behind = 0;         // number of the message before its first one
        std::uint64_t parts = 0;          // 0: it is not known
        std::vector<bool> is_there = {};  // by part

        void add(std::uint64_t part);
        [[nodiscard]] bool is_whole() const;
    };

    void connect();
    void connect_again();
    void send_rows(std::string_view rows);
    [[nodiscard]] Sent sent_of(const detail::MessageRows::Message& message) const;
    void send_part(std::uint64_t part, Sent one);
    void send(std::uint64_t part, const Sent& one);
    void wait_for_acknowledgements(std::size_t messages, std::size_t bytes);
    void take_acknowledgement(int wait_ms);
    void check_acknowledgement(std::string_view text);
    void end_part(std::uint64_t part);
    void find_begun();
    void find_parts(std::uint64_t pending);
    void note_answer();
    [[nodiscard]] bool is_to_give_up() const;
    void check_interruption() const;

    const bool has_key_;
    detail::MessageRows rows_;
    const Place place_;
    Client client_;
    Client::Inbox answers_;
    std::string stream_;
    bool by_epoch_ = false;
    std::string epoch_rows_;    // of the epoch that is to be committed
    std::uint64_t number_ = 1;  // of the epoch, or of the pause that ends the rows
    std::uint64_t part_ = 0;    // of the next row
    std::uint64_t last_ = 0;    // number of the last message that is known
    Begun begun_;
    std::map<std::uint64_t, Sent> sent_;  // parts that are not acknowledged
    std::size_t sent_bytes_ = 0;
    std::int64_t answer_until_ns_ = 0;
    std::int64_t give_up_at_ns_ = 0;
    std::atomic<bool> is_interrupted_{false};
};

}  // namespace strid::nats
