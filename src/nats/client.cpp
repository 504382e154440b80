// SPDX-License-Identifier: Apache-2.0
#include "client.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include <strid/base/error.hpp>

#include "subject.hpp"

namespace strid::nats {

namespace {

constexpr int first_attempts = 3;
constexpr std::int64_t ping_ms = 5'000;
constexpr int pings_out = 2;

std::string of_environment(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? std::string{} : std::string(value);
}

/// The port in HOST:PORT, [HOST]:PORT; none: that of NATS.
void check_server(const TransportAddress& from, std::string& server) {
    const std::size_t colon = server.find(':', server.front() == '[' ? server.find(']') : 0);
    if (colon == std::string::npos) {
        server += ":4222";
        return;
    }
    int port = 0;
    if (!read_number(std::string_view(server).substr(colon + 1), port) || port < 1 ||
        port > 65535) {
        from.refuse("a port is a number from 1 to 65535");
    }
}

/// The connection may be made again, and work then.
bool is_passing(::natsStatus status) noexcept {
    switch (status) {
        case NATS_IO_ERROR:
        case NATS_CONNECTION_CLOSED:
        case NATS_CONNECTION_DISCONNECTED:
        case NATS_NO_SERVER:
        case NATS_STALE_CONNECTION:
        case NATS_TIMEOUT:
        case NATS_NO_RESPONDERS:
            return true;
        default:
            return false;
    }
}

bool is_passing(::jsErrCode code) noexcept {
    return code == JSClusterNotAvailErr || code == JSClusterNotActiveErr ||
           code == JSClusterNotLeaderErr || code == JSClusterIncompleteErr ||
           code == JSStreamOfflineErr || code == JSConsumerOfflineErr ||
           code == JSInsufficientResourcesErr;
}

void ignore_error(::natsConnection*, ::natsSubscription*, ::natsStatus, void*) {}

}  // namespace

Place::Place(TransportAddress& from)
    : address(from.text()),
      stream(from.take("stream")),
      user(from.take("user")),
      password(of_environment("STRID_NATS_PASSWORD")),
      token(of_environment("STRID_NATS_TOKEN")),
      certificates(from.take("cafile")) {
    from.expect_no_more(
        "there are stream, user, cafile, of an input start, until, with, and of an output format, "
        "key, sink");
    const std::string place = from.decoded_place();
    const std::size_t slash = place.find('/', 2);
    if (!place.starts_with("//") || slash == std::string::npos || slash == 2 ||
        slash + 1 == place.size()) {
        from.refuse("the address of messages is nats://HOST:PORT/SUBJECT?stream=NAME");
    }
    std::string server = place.substr(2, slash - 2);
    subject = place.substr(slash + 1);
    subjects = subject;
    if (server.find('@') != std::string::npos) from.refuse("a user is named by user=NAME");
    check_server(from, server);
    url = "nats://" + server;
    if (!is_subject(subject)) {
        from.refuse(fmt::format("'{}' is no subject: tokens with dots between them", subject));
    }
    if (stream.empty()) from.refuse("stream=NAME is missing, the name of the JetStream stream");
    if (!is_subject(stream) || stream.find_first_of(".*>/\\") != std::string::npos) {
        from.refuse(fmt::format("'{}' is no name of a stream", stream));
    }
    if (!certificates.empty() && ::access(certificates.c_str(), R_OK) != 0) {
        from.refuse("cafile: the file cannot be read");
    }
}

/// Of a connection, which copies them.
struct Client::Options {
    explicit Options(const Place& place) {
        ::natsOptions* made = nullptr;
        set(::natsOptions_Create(&made));
        own.reset(made);
        set(::natsOptions_SetURL(made, place.url.c_str()));
        set(::natsOptions_SetName(made, "strid"));
        set(::natsOptions_SetAllowReconnect(made, false));
        set(::natsOptions_SetIgnoreDiscoveredServers(made, true));
        set(::natsOptions_SetTimeout(made, answer_wait_ms));
        set(::natsOptions_SetWriteDeadline(made, answer_wait_ms));
        set(::natsOptions_SetPingInterval(made, ping_ms));
        set(::natsOptions_SetMaxPingsOut(made, pings_out));
        // Else libnats writes to standard error.
        set(::natsOptions_SetErrorHandler(made, &ignore_error, nullptr));
        if (!place.user.empty()) {
            set(::natsOptions_SetUserInfo(made, place.user.c_str(), place.password.c_str()));
        } else if (!place.token.empty()) {
            set(::natsOptions_SetToken(made, place.token.c_str()));
        }
        if (place.certificates.empty()) return;
        set(::natsOptions_SetSecure(made, true));
        set(::natsOptions_LoadCATrustedCertificates(made, place.certificates.c_str()));
    }
    void set(::natsStatus result) noexcept {
        if (status == NATS_OK) status = result;
    }

    std::unique_ptr<::natsOptions, Destroys<::natsOptions_Destroy>> own;
    ::natsStatus status = NATS_OK;  // of the first call that has failed
};

void Client::connect() {
    const Options options(place_);
    if (options.status == NATS_SSL_ERROR) {
        throw InputOutputError(place_.address + ": cafile: no certificates are in the file");
    }
    check(options.status);
    ::natsConnection* made = nullptr;
    ::natsStatus status = NATS_TIMEOUT;
    const int attempts = was_open_ ? 1 : first_attempts;
    for (int i = 0; i != attempts && status == NATS_TIMEOUT; ++i) {
        status = ::natsConnection_Connect(&made, options.own.get());
    }
    if (status == NATS_CONNECTION_AUTH_FAILED) {
        throw InputOutputError(fmt::format("{}: the server refuses {}", place_.address,
                                           place_.user.empty()
                                               ? "a client without a user, or the token"
                                               : "the user or the password"));
    }
    if (status == NATS_SECURE_CONNECTION_REQUIRED) {
        throw InputOutputError(place_.address + ": the server takes TLS only: cafile=PATH");
    }
    if (status == NATS_PROTOCOL_ERROR) {
        throw InputOutputError(place_.address + ": the server there is none of NATS");
    }
    if (status == NATS_SSL_ERROR) {
        throw InputOutputError(fmt::format(
            "{}: TLS: the server has no certificate that is trusted, by {}, for this host",
            place_.address, place_.certificates.empty() ? "the system" : place_.certificates));
    }
    if (status == NATS_SECURE_CONNECTION_WANTED) {
        throw InputOutputError(place_.address + ": the server takes no TLS, as cafile asks for");
    }
    if (status == NATS_TIMEOUT || status == NATS_NO_SERVER) {
        throw ConnectionLost(place_.address + ": no server of NATS answers");
    }
    check(status);
    connection_.reset(made);
    ::jsOptions with{};
    check(::jsOptions_Init(&with));
    with.Wait = answer_wait_ms;
    ::jsCtx* context = nullptr;
    check(::natsConnection_JetStream(&context, made, &with));
    jet_stream_.reset(context);
}

StreamState Client::open() {
    close();
    try {
        connect();
        StreamState state = stream();
        was_open_ = true;
        return state;
    } catch (...) {
        close();
        throw;
    }
}

void Client::close() noexcept {
    if (connection_ == nullptr) return;
    end_consumer();
    jet_stream_.reset();
    connection_.reset();  // its thread has ended
    subscriptions_.clear();
}

StreamState Client::stream() {
    ::jsStreamInfo* found = nullptr;
    ::jsErrCode code{};
    const ::natsStatus status =
        ::js_GetStreamInfo(&found, jet_stream_.get(), place_.stream.c_str(), nullptr, &code);
    const std::unique_ptr<::jsStreamInfo, Destroys<::jsStreamInfo_Destroy>> owned(found);
    if (code == JSStreamNotFoundErr || code == JSNotEnabledErr ||
        code == JSNotEnabledForAccountErr || (status == NATS_NO_RESPONDERS && !was_open_)) {
        fail_of_stream(code);
    }
    check(status, code);
    StreamState state{.first = std::max<std::uint64_t>(found->State.FirstSeq, 1),
                      .last = found->State.LastSeq,
                      .created_ns = found->Created,
                      .keeps_messages = found->Config->Retention == js_LimitsPolicy};
    for (int i = 0; i != found->Config->SubjectsLen; ++i) {
        state.subjects.emplace_back(found->Config->Subjects[i]);
    }
    return state;
}

Client::Inbox Client::make_inbox(bool has_children) {
    ::natsInbox* made = nullptr;
    check(::natsInbox_Create(&made));
    Inbox inbox{.name = made};
    ::natsInbox_Destroy(made);
    const std::string subject = has_children ? inbox.name + ".*" : inbox.name;
    ::natsSubscription* own = nullptr;
    check(::natsConnection_SubscribeSync(&own, connection_.get(), subject.c_str()));
    subscriptions_.emplace_back(own);
    inbox.own = own;
    check(::natsSubscription_SetPendingLimits(own, -1, -1));  // requests have a bound
    return inbox;
}

void Client::drop(Inbox& inbox) noexcept {
    const bool is_there = std::any_of(subscriptions_.begin(), subscriptions_.end(),
                                      [&inbox](const auto& one) { return one.get() == inbox.own; });
    if (is_there) (void)::natsSubscription_Unsubscribe(inbox.own);
    inbox = {};
}

std::uint64_t Client::make_consumer(const ::jsConsumerConfig& config) {
    end_consumer();
    ::jsConsumerConfig copy = config;
    ::jsConsumerInfo* made = nullptr;
    ::jsErrCode code{};
    const ::natsStatus status =
        ::js_AddConsumer(&made, jet_stream_.get(), place_.stream.c_str(), &copy, nullptr, &code);
    const std::unique_ptr<::jsConsumerInfo, Destroys<::jsConsumerInfo_Destroy>> owned(made);
    if (code == JSConsumerFilterNotSubsetErr) {
        throw InputOutputError(fmt::format("{}: the stream '{}' has no subject '{}'",
                                           place_.address, place_.stream, place_.subject));
    }
    check(status, code);
    consumer_ = made->Name;
    return made->NumPending;
}

/// The server ends it by itself as well, half a minute after the last request.
void Client::end_consumer() noexcept {
    if (consumer_.empty()) return;
    const std::string subject =
        "$JS.API.CONSUMER.DELETE." + place_.stream + '.' + std::exchange(consumer_, {});
    (void)::natsConnection_PublishRequestString(connection_.get(), subject.c_str(), "_INBOX.strid",
                                                "");
}

void Client::request(const Inbox& inbox, const std::string& request) {
    const std::string subject = "$JS.API.CONSUMER.MSG.NEXT." + place_.stream + '.' + consumer_;
    check(::natsConnection_PublishRequestString(connection_.get(), subject.c_str(),
                                                inbox.name.c_str(), request.c_str()));
}

Message Client::next(const Inbox& inbox, int wait_ms) {
    ::natsMsg* taken = nullptr;
    const ::natsStatus status = ::natsSubscription_NextMsg(&taken, inbox.own, wait_ms);
    Message message(taken);
    if (status == NATS_TIMEOUT && ::natsConnection_IsClosed(connection_.get())) {
        check(NATS_CONNECTION_CLOSED);
    }
    if (status != NATS_TIMEOUT) check(status);
    return message;
}

void Client::publish(const Message& message) {
    const ::natsStatus status = ::natsConnection_PublishMsg(connection_.get(), message.get());
    if (status == NATS_MAX_PAYLOAD) {
        throw InputOutputError(
            fmt::format("{}: a message of {} bytes is larger than the server "
                        "takes",
                        place_.address, text_of(message).size()));
    }
    check(status);
}

Message Client::last_message(const std::string& subject) {
    ::natsMsg* found = nullptr;
    ::jsErrCode code{};
    const ::natsStatus status = ::js_GetLastMsg(&found, jet_stream_.get(), place_.stream.c_str(),
                                                subject.c_str(), nullptr, &code);
    Message message(found);
    if (status == NATS_NOT_FOUND || code == JSNoMessageFoundErr) return nullptr;
    check(status, code);
    return message;
}

void Client::check(::natsStatus status, ::jsErrCode code) const {
    if (status == NATS_OK) return;
    if (status == NATS_TIMEOUT) fail_of_silence();
    std::string text = fmt::format("{}: {}", place_.address, ::natsStatus_GetText(status));
    if (code != 0) text += fmt::format(" (error {} of JetStream)", static_cast<int>(code));
    if (is_passing(status) || is_passing(code)) throw ConnectionLost(text);
    throw InputOutputError(text);
}

void Client::fail_of_stream(::jsErrCode code) const {
    if (code == JSStreamNotFoundErr) {
        throw InputOutputError(fmt::format(
            "{}: the server has no stream '{}': it is made by: nats stream add {} --subjects "
            "'{}' --defaults",
            place_.address, place_.stream, place_.stream, place_.subjects));
    }
    throw InputOutputError(place_.address +
                           ": the server has no JetStream: it is started with nats-server -js");
}

/// A client that may not ask gets no answer.
void Client::fail_of_silence() const {
    const char* reason = nullptr;
    if (connection_ != nullptr &&
        ::natsConnection_GetLastError(connection_.get(), &reason) == NATS_NOT_PERMITTED) {
        throw InputOutputError(
            fmt::format("{}: the server does not permit it: {}", place_.address, reason));
    }
    throw ConnectionLost(place_.address + ": the server does not answer");
}

const char* header_of(const Message& message, const char* name) noexcept {
    const char* value = nullptr;
    return ::natsMsgHeader_Get(message.get(), name, &value) == NATS_OK ? value : nullptr;
}

std::string_view text_of(const Message& message) noexcept {
    return {::natsMsg_GetData(message.get()),
            static_cast<std::size_t>(::natsMsg_GetDataLength(message.get()))};
}

}  // namespace strid::nats
