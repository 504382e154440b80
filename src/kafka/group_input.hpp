// SPDX-License-Identifier: Apache-2.0
//
// The messages of a topic that a consumer group shares, each a line: `group=NAME`. Threads: one at
// a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include <strid/connector/transport.hpp>
#include <strid/engine/connector/taken_rows.hpp>

#include "group.hpp"
#include "message_text.hpp"

namespace strid::kafka {

class GroupInput final : public TransportInput {
  public:
    /// Throws GraphError, ConnectionLost and InputOutputError.
    GroupInput(std::string group, TransportAddress address);
    ~GroupInput() override;

    ByteReader::Result read(std::span<char> out, int wait_ms) override;
    void passed(std::uint64_t bytes) override;
    [[nodiscard]] std::string_view lost() const noexcept override { return group_->reach().lost; }

  private:
    void fetch(int wait_ms);
    void take(const ::rd_kafka_message_t& message);

    RunScope* const run_;
    MessageText message_text_;
    std::shared_ptr<Group> group_;
    Queue queue_;  // the messages of all partitions
    detail::TakenRows<Group::Place> rows_;
};

}  // namespace strid::kafka
