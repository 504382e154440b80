// SPDX-License-Identifier: Apache-2.0
//
// The messages of a topic, each a line. Threads: one at a time.
//
// A position is `PARTITION:OFFSET` of the next message of each partition, separated by spaces. The
// partitions may come in another order than before. Where the place is within a message, of several
// rows, that one must come first: it stands in front, behind a '>', and its partition is read alone
// until it has come.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <strid/connector/transport.hpp>
#include <strid/engine/connector/taken_rows.hpp>

#include "message_text.hpp"
#include "start.hpp"
#include "topic.hpp"

namespace strid::kafka {

class TopicInput final : public TransportInput {
  public:
    /// Throws GraphError, ConnectionLost and InputOutputError.
    explicit TopicInput(TransportAddress address);
    ~TopicInput() override;

    ByteReader::Result read(std::span<char> out, int wait_ms) override;
    [[nodiscard]] bool has_positions() const noexcept override { return true; }
    void passed(std::uint64_t bytes) override;
    [[nodiscard]] Position position(std::uint64_t bytes) override;
    [[nodiscard]] std::string_view lost() const noexcept override { return reach_.lost; }
    void go_on_at(std::string_view position) override;

  private:
    /// Its options, which are taken.
    struct Part {
        explicit Part(TransportAddress& address);
        Start start;
        std::vector<std::int32_t> partitions;  // none: all
        bool until_end = false;
        MessageText text;
    };
    /// Of a message.
    struct Place {
        std::int32_t partition = 0;
        std::int64_t offset = 0;
    };

    void begin();
    void pass_gap(std::int32_t partition, std::int64_t offset);
    [[nodiscard]] std::int64_t first_offset(std::int32_t partition);
    void assign(const std::map<std::int32_t, std::int64_t>& offsets);
    void look_for_partitions();
    [[nodiscard]] bool is_at_end() const noexcept;
    void fetch(int wait_ms);
    void take(const ::rd_kafka_message_t& message);

    Part part_;
    const Topic topic_;
    Reach reach_;
    Client client_;
    Queue queue_;  // the messages of all partitions
    bool has_begun_ = false;
    std::map<std::int32_t, std::int64_t> next_;  // offset of the next message to take, by partition
    std::map<std::int32_t, std::int64_t> ends_;  // with until=end: up to here
    std::map<std::int32_t, std::int64_t> passed_;  // of the messages before those in rows_
    std::int32_t alone_ = -1;                      // this partition is read alone
    std::string position_;                         // that it has begun at, until then
    detail::TakenRows<Place> rows_;
};

}  // namespace strid::kafka
