// SPDX-License-Identifier: Apache-2.0
#include "start.hpp"

#include <string>

namespace strid::kafka {

Edges edges_of(::rd_kafka_t* client, const Topic& topic, std::int32_t partition, int wait_ms) {
    Edges edges;
    const auto error = ::rd_kafka_query_watermark_offsets(client, topic.name.c_str(), partition,
                                                          &edges.first, &edges.behind, wait_ms);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) fail(topic, error, "offsets cannot be asked for: ");
    return edges;
}

Start::Start(TransportAddress& address) {
    const std::string text = address.take("start");
    if (text.starts_with('@') && read_number(std::string_view(text).substr(1), ms_)) {
        kind_ = Kind::time;
    } else if (text == "latest") {
        kind_ = Kind::latest;
    } else if (!text.empty() && text != "earliest") {
        address.refuse("start is earliest, latest, or @ and milliseconds since 1970");
    }
}

std::int64_t Start::offset(::rd_kafka_t* client, const Topic& topic, std::int32_t partition,
                           const Edges& edges) const {
    if (kind_ == Kind::earliest) return edges.first;
    if (kind_ == Kind::latest) return edges.behind;
    const Partitions asked(::rd_kafka_topic_partition_list_new(1));
    auto* const one =
        ::rd_kafka_topic_partition_list_add(asked.get(), topic.name.c_str(), partition);
    one->offset = ms_;
    const auto failed = ::rd_kafka_offsets_for_times(client, asked.get(), broker_wait_ms);
    if (failed != RD_KAFKA_RESP_ERR_NO_ERROR) fail(topic, failed, "");
    if (one->err != RD_KAFKA_RESP_ERR_NO_ERROR) fail(topic, one->err, "");
    return one->offset < 0 ? edges.behind : one->offset;
}

}  // namespace strid::kafka
