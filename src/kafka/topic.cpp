// SPDX-License-Identifier: Apache-2.0
#include "topic.hpp"

#include <array>
#include <fstream>

#include <fmt/format.h>

#include <strid/base/clock.hpp>
#include <strid/base/error.hpp>

namespace strid::kafka {

namespace {

constexpr std::int64_t lost_look_every_ns = 1'000'000'000;
constexpr int look_wait_ms = 200;

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

/// The settings in a file: NAME=VALUE in each line, # before a comment.
void add_file(const std::string& path, Settings& settings) {
    std::ifstream file(path);
    if (!file) throw InputOutputError(path + ": cannot be opened");
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
        const std::string_view text = trimmed(line);
        if (text.empty() || text.front() == '#') continue;
        const std::size_t equals = text.find('=');
        if (equals == std::string_view::npos || equals == 0) {
            throw InputOutputError(fmt::format("{}:{}: a setting is NAME=VALUE", path, number));
        }
        settings.emplace_back(trimmed(text.substr(0, equals)), trimmed(text.substr(equals + 1)));
    }
}

struct EndsConfiguration {
    void operator()(::rd_kafka_conf_t* configuration) const noexcept {
        ::rd_kafka_conf_destroy(configuration);
    }
};

}  // namespace

Topic::Topic(TransportAddress& from) : address(from.text()) {
    const std::string place = from.decoded_place();
    const std::size_t slash = place.find('/', 2);
    if (!place.starts_with("//") || slash == std::string::npos || slash == 2 ||
        slash + 1 == place.size()) {
        from.refuse("the address of a topic is kafka://HOST:PORT/TOPIC");
    }
    name = place.substr(slash + 1);
    settings.emplace_back("bootstrap.servers", place.substr(2, slash - 2));
    settings.emplace_back("client.id", "strid");
    if (const std::string path = from.take("config"); !path.empty()) add_file(path, settings);
    for (const auto& option : from.left()) settings.push_back(option);
}

Client make_client(::rd_kafka_type_t type, const Topic& topic, const Settings& settings,
                   const Callbacks& callbacks) {
    std::array<char, 512> reason{};
    std::unique_ptr<::rd_kafka_conf_t, EndsConfiguration> made(::rd_kafka_conf_new());
    for (const Settings* const some : {&topic.settings, &settings}) {
        for (const auto& [name, value] : *some) {
            if (::rd_kafka_conf_set(made.get(), name.c_str(), value.c_str(), reason.data(),
                                    reason.size()) != RD_KAFKA_CONF_OK) {
                throw GraphError(topic.address + ": " + reason.data());
            }
        }
    }
    // The errors that are thrown say what it would write to standard error.
    ::rd_kafka_conf_set_log_cb(made.get(), nullptr);
    if (callbacks.delivered) ::rd_kafka_conf_set_dr_msg_cb(made.get(), callbacks.delivered);
    if (callbacks.failed) ::rd_kafka_conf_set_error_cb(made.get(), callbacks.failed);
    if (callbacks.rebalanced) {
        ::rd_kafka_conf_set_rebalance_cb(made.get(), callbacks.rebalanced);
    }
    if (callbacks.committed) {
        ::rd_kafka_conf_set_offset_commit_cb(made.get(), callbacks.committed);
    }
    if (callbacks.joining) callbacks.joining->watch(made.get());
    ::rd_kafka_conf_set_opaque(made.get(), callbacks.self);
    Client client(::rd_kafka_new(type, made.get(), reason.data(), reason.size()));
    if (client == nullptr) throw GraphError(topic.address + ": " + reason.data());
    made.release();  // the client's now
    return client;
}

std::vector<std::int32_t> partitions_of(::rd_kafka_t* client, const Topic& topic, int wait_ms) {
    struct EndsTopic {
        void operator()(::rd_kafka_topic_t* one) const noexcept { ::rd_kafka_topic_destroy(one); }
    };
    const std::unique_ptr<::rd_kafka_topic_t, EndsTopic> handle(
        ::rd_kafka_topic_new(client, topic.name.c_str(), nullptr));
    if (handle == nullptr) fail(topic, ::rd_kafka_last_error(), "");
    const ::rd_kafka_metadata_t* found = nullptr;
    const auto error = ::rd_kafka_metadata(client, 0, handle.get(), &found, wait_ms);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) fail(topic, error, "no broker answers: ");
    struct EndsMetadata {
        void operator()(const ::rd_kafka_metadata_t* one) const noexcept {
            ::rd_kafka_metadata_destroy(one);
        }
    };
    const std::unique_ptr<const ::rd_kafka_metadata_t, EndsMetadata> owned(found);
    if (found->topic_cnt != 1) fail(topic, RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, "");
    if (found->topics[0].err != RD_KAFKA_RESP_ERR_NO_ERROR) fail(topic, found->topics[0].err, "");
    std::vector<std::int32_t> partitions;
    for (int i = 0; i != found->topics[0].partition_cnt; ++i) {
        partitions.push_back(found->topics[0].partitions[i].id);
    }
    return partitions;
}

bool may_pass(::rd_kafka_resp_err_t error) noexcept {
    switch (error) {
        case RD_KAFKA_RESP_ERR__TRANSPORT:
        case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
        case RD_KAFKA_RESP_ERR__TIMED_OUT:
        case RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE:
        case RD_KAFKA_RESP_ERR__MSG_TIMED_OUT:
        case RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE:
        case RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION:
        case RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE:
        case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
        case RD_KAFKA_RESP_ERR_NOT_COORDINATOR:
        case RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE:
        case RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS:
        case RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS:
        case RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION:
        case RD_KAFKA_RESP_ERR_CONCURRENT_TRANSACTIONS:
        case RD_KAFKA_RESP_ERR_UNSTABLE_OFFSET_COMMIT:
            return true;
        default:
            return false;
    }
}

void fail(const Topic& topic, ::rd_kafka_resp_err_t error, std::string_view reason) {
    const std::string text =
        fmt::format("{}: {}{}", topic.address, reason, ::rd_kafka_err2str(error));
    if (may_pass(error)) throw ConnectionLost(text);
    throw InputOutputError(text);
}

void Reach::note_failure(const Topic& topic, int code, const char* text) {
    if (code != RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN && code != RD_KAFKA_RESP_ERR__AUTHENTICATION &&
        code != RD_KAFKA_RESP_ERR__SSL) {
        return;  // of one broker
    }
    lost = fmt::format("{}: {}", topic.address, text);
    look_at_ns = now_ns() + lost_look_every_ns;
}

std::optional<std::vector<std::int32_t>> Reach::look(::rd_kafka_t* client, const Topic& topic,
                                                     bool is_usual) {
    if ((!is_usual && lost.empty()) || now_ns() < look_at_ns) return std::nullopt;
    try {
        auto found = partitions_of(client, topic, look_wait_ms);
        lost.clear();
        look_at_ns = now_ns() + look_every_ns;
        return found;
    } catch (const ConnectionLost&) {
        look_at_ns = now_ns() + lost_look_every_ns;
        return std::nullopt;
    }
}

}  // namespace strid::kafka
