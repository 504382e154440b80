// SPDX-License-Identifier: Apache-2.0
//
// Messages as rows: with fields about them (`with`), and with tombstones where they are asked for.
// One thread.
#pragma once

#include <string>

#include <librdkafka/rdkafka.h>

#include <strid/connector/transport.hpp>
#include <strid/engine/connector/message_fields.hpp>

namespace strid::kafka {

class MessageText {
  public:
    /// Takes the options. Throws GraphError.
    explicit MessageText(TransportAddress& address);
    /// Appends the row of a message, without a newline. False: the message is passed over.
    bool append(std::string& out, const ::rd_kafka_message_t& message);

  private:
    detail::MessageFields fields_;
    bool has_tombstones_ = false;
};

}  // namespace strid::kafka
