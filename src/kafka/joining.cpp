// SPDX-License-Identifier: Apache-2.0
#include "joining.hpp"

#include <cstddef>

namespace strid::kafka {

namespace {

// In Kafka's protocol.
constexpr std::int16_t join_group = 11;
constexpr std::int16_t sync_group = 14;

constexpr const char* interceptor = "strid";

::rd_kafka_resp_err_t note_request(::rd_kafka_t* /*client*/, int /*socket*/, const char* /*broker*/,
                                   std::int32_t /*number*/, std::int16_t kind,
                                   std::int16_t /*version*/, std::int32_t /*request*/,
                                   std::size_t /*bytes*/, void* self) {
    static_cast<Joining*>(self)->note(kind, false);
    return RD_KAFKA_RESP_ERR_NO_ERROR;
}

::rd_kafka_resp_err_t note_answer(::rd_kafka_t* /*client*/, int /*socket*/, const char* /*broker*/,
                                  std::int32_t /*number*/, std::int16_t kind,
                                  std::int16_t /*version*/, std::int32_t /*request*/,
                                  std::size_t /*bytes*/, std::int64_t /*us*/,
                                  ::rd_kafka_resp_err_t /*error*/, void* self) {
    static_cast<Joining*>(self)->note(kind, true);
    return RD_KAFKA_RESP_ERR_NO_ERROR;
}

::rd_kafka_resp_err_t watch_client(::rd_kafka_t* client, const ::rd_kafka_conf_t* /*configuration*/,
                                   void* self, char* /*reason*/, std::size_t /*bytes*/) {
    const auto error =
        ::rd_kafka_interceptor_add_on_request_sent(client, interceptor, &note_request, self);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return error;
    return ::rd_kafka_interceptor_add_on_response_received(client, interceptor, &note_answer, self);
}

}  // namespace

void Joining::watch(::rd_kafka_conf_t* configuration) {
    (void)::rd_kafka_conf_interceptor_add_on_new(configuration, interceptor, &watch_client, this);
}

void Joining::note(std::int16_t kind, bool is_answer) noexcept {
    if (kind == join_group && !is_answer) goes_on_.store(true, std::memory_order_relaxed);
    if (kind == sync_group && is_answer) goes_on_.store(false, std::memory_order_relaxed);
}

}  // namespace strid::kafka
