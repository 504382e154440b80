// SPDX-License-Identifier: Apache-2.0
#include "client.hpp"

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <system_error>

#include <fmt/format.h>

#include <strid/base/error.hpp>

namespace strid::mqtt {

namespace {

constexpr int keepalive_s = 60;
constexpr std::chrono::seconds answer_wait{10};
constexpr int tls_port = 8883;

/// Once in a process.
void begin_library() {
    static const int begun = ::mosquitto_lib_init();
    (void)begun;
}

}  // namespace

Place::Place(TransportAddress& from)
    : address(from.text()),
      client(from.take("client")),
      user(from.take("user")),
      certificates(from.take("cafile")) {
    const std::string quality = from.take("qos");
    from.expect_no_more(
        "there are qos, client, user, cafile, of an input with, and of an output format, key, "
        "sink");
    if (!quality.empty()) {
        if (quality != "0" && quality != "1" && quality != "2") from.refuse("qos is 0, 1 or 2");
        qos = quality.front() - '0';
    }
    const std::string place = from.decoded_place();
    const std::size_t slash = place.find('/', 2);
    if (!place.starts_with("//") || slash == std::string::npos || slash == 2 ||
        slash + 1 == place.size()) {
        from.refuse("the address of a topic is mqtt://HOST:PORT/TOPIC");
    }
    host = place.substr(2, slash - 2);
    topic = place.substr(slash + 1);
    if (!certificates.empty()) port = tls_port;
    const std::size_t colon = host.rfind(':');
    if (colon == std::string::npos) return;
    const char* const end = host.data() + host.size();
    const auto read = std::from_chars(host.data() + colon + 1, end, port);
    if (read.ec != std::errc{} || read.ptr != end || port < 1 || port > 65535) {
        from.refuse("a port is a number from 1 to 65535");
    }
    host.resize(colon);
}

Client::Client(const Place& place, Arrived arrived) : place_(place), arrived_(std::move(arrived)) {
    begin_library();
    make();  // which refuses impossible options
}

/// A new one for each connection: libmosquitto sends once more what an earlier one has begun.
void Client::make() {
    is_connected_ = false;
    sent_.clear();
    early_.clear();
    const bool is_clean = place_.client.empty();
    client_.reset(::mosquitto_new(is_clean ? nullptr : place_.client.c_str(), is_clean, this));
    if (client_ == nullptr) fail(MOSQ_ERR_NOMEM, "");
    if (!place_.user.empty()) {
        const char* const password = std::getenv("STRID_MQTT_PASSWORD");
        ::mosquitto_username_pw_set(client_.get(), place_.user.c_str(), password);
    }
    if (!place_.certificates.empty()) {
        const int code = ::mosquitto_tls_set(client_.get(), place_.certificates.c_str(), nullptr,
                                             nullptr, nullptr, nullptr);
        if (code != MOSQ_ERR_SUCCESS) fail(code, place_.certificates + ": ");
    }
    ::mosquitto_connect_callback_set(client_.get(), [](::mosquitto*, void* self, int code) {
        static_cast<Client*>(self)->note_answer(code);
    });
    ::mosquitto_disconnect_callback_set(client_.get(), [](::mosquitto*, void* self, int) {
        static_cast<Client*>(self)->is_connected_ = false;
    });
    ::mosquitto_message_callback_set(
        client_.get(), [](::mosquitto*, void* self, const ::mosquitto_message* message) {
            const auto& client = *static_cast<Client*>(self);
            if (message->payloadlen <= 0 || !client.arrived_) return;
            client.arrived_(message->topic, {static_cast<const char*>(message->payload),
                                             static_cast<std::size_t>(message->payloadlen)});
        });
    ::mosquitto_subscribe_callback_set(
        client_.get(), [](::mosquitto*, void* self, int, int count, const int* granted) {
            constexpr int refused = 128;
            if (count > 0 && granted[0] >= refused) {
                static_cast<Client*>(self)->refusal_ = "the broker refuses the subscription";
            }
        });
    ::mosquitto_publish_callback_set(client_.get(), [](::mosquitto*, void* self, int number) {
        auto& client = *static_cast<Client*>(self);
        if (client.sent_.erase(number) == 0) client.early_.insert(number);
    });
}

Client::~Client() {
    disconnect();
}

/// The broker has answered. Each connection subscribes, because a broker may have begun anew.
void Client::note_answer(int code) {
    if (code != 0) {
        refusal_ = ::mosquitto_connack_string(code);
        return;
    }
    is_connected_ = true;
    if (arrived_) ::mosquitto_subscribe(client_.get(), nullptr, place_.topic.c_str(), place_.qos);
}

void Client::connect() {
    refusal_.clear();
    make();
    const int code =
        ::mosquitto_connect(client_.get(), place_.host.c_str(), place_.port, keepalive_s);
    if (code != MOSQ_ERR_SUCCESS) fail(code, "");
    const auto until = std::chrono::steady_clock::now() + answer_wait;
    while (!is_connected_) {
        step(100);
        if (!is_connected_ && std::chrono::steady_clock::now() > until) {
            throw ConnectionLost(place_.address + ": the broker does not answer");
        }
    }
}

void Client::step(int wait_ms) {
    constexpr int packets = 100;
    const int code = ::mosquitto_loop(client_.get(), wait_ms, packets);
    if (!refusal_.empty()) throw InputOutputError(place_.address + ": " + refusal_);
    if (code != MOSQ_ERR_SUCCESS) {
        is_connected_ = false;
        fail(code, "");
    }
}

void Client::publish(const std::string& topic, std::string_view payload) {
    int number = 0;
    const int code =
        ::mosquitto_publish(client_.get(), &number, topic.c_str(), static_cast<int>(payload.size()),
                            payload.data(), place_.qos, false);
    if (code != MOSQ_ERR_SUCCESS) fail(code, "");
    if (early_.erase(number) == 0) sent_.insert(number);
}

void Client::disconnect() noexcept {
    sent_.clear();
    early_.clear();
    if (is_connected_) ::mosquitto_disconnect(client_.get());
    is_connected_ = false;
}

void Client::fail(int code, std::string_view what) const {
    const std::string reason = code == MOSQ_ERR_ERRNO ? std::generic_category().message(errno)
                                                      : ::mosquitto_strerror(code);
    const std::string text = fmt::format("{}: {}{}", place_.address, what, reason);
    const bool is_passing = code == MOSQ_ERR_ERRNO || code == MOSQ_ERR_CONN_LOST ||
                            code == MOSQ_ERR_NO_CONN || code == MOSQ_ERR_CONN_REFUSED ||
                            code == MOSQ_ERR_EAI || code == MOSQ_ERR_KEEPALIVE;
    if (is_passing) throw ConnectionLost(text);
    throw InputOutputError(text);
}

}  // namespace strid::mqtt
