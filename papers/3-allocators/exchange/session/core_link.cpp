// SPDX-License-Identifier: Apache-2.0
#include "session/core_link.hpp"

#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <sys/socket.h>

#include "fix/decoder.hpp"
#include "link/core_tags.hpp"

namespace strid::exchange {

using fix::Message;
using fix::Tag;

namespace {

constexpr int core_poll_ms = 100;
constexpr std::chrono::milliseconds budget_retry{1};
constexpr std::size_t core_chunk_bytes = std::size_t{64} << 10;

std::shared_ptr<const fix::FieldFault> fault_of(const Message& message) {
    if (!message.has(CoreTag::fault_reason)) return nullptr;
    return std::make_shared<const fix::FieldFault>(
        static_cast<int>(message.integer_or(CoreTag::fault_tag, 0)),
        static_cast<int>(message.integer(CoreTag::fault_reason)),
        std::string(message.get_or(CoreTag::fault_text, "?")));
}

}  // namespace

CoreLink::CoreLink(Endpoint endpoint, Take take, std::size_t bytes_max, const Log& log)
    : endpoint_(std::move(endpoint)),
      take_(std::move(take)),
      budget_(std::make_shared<ByteBudget>(bytes_max)),
      log_(log) {
    listener_ = listen_on(endpoint_, 4);
}

CoreLink::~CoreLink() {
    ended_.store(true, std::memory_order_relaxed);
    if (thread_.joinable()) thread_.join();
}

void CoreLink::start() {
    thread_ = std::thread([this] { run(); });
}

void CoreLink::send(std::uint64_t link, std::string_view bytes) {
    const std::lock_guard lock{mutex_};
    if (link != link_ || !socket_) return;
    // A link that breaks is noticed by the thread that reads.
    (void)socket_.send_all(bytes);
}

void CoreLink::run() {
    while (!ended_.load(std::memory_order_relaxed)) {
        if (!listener_.wait_readable(core_poll_ms)) continue;
        Socket accepted(::accept4(listener_.descriptor(), nullptr, nullptr, SOCK_CLOEXEC));
        if (!accepted) continue;
        set_no_delay(accepted);
        {
            const std::lock_guard lock{mutex_};
            ++link_;
            socket_ = std::move(accepted);
        }
        log_.say("the core is connected");
        const bool goes_on = serve(socket_);
        // A sender that waits for room lets the lock go.
        socket_.shut_down();
        {
            const std::lock_guard lock{mutex_};
            socket_.close();
        }
        log_.say("the core is gone");
        if (!goes_on || !end_connections()) return;
    }
}

bool CoreLink::serve(Socket& socket) {
    fix::Decoder decoder(fix::link_body_bytes_max);
    Message message;
    std::string bytes;
    while (!ended_.load(std::memory_order_relaxed)) {
        if (!socket.wait_readable(core_poll_ms)) continue;
        bytes.clear();
        if (socket.receive_some(bytes, core_chunk_bytes) < 0) return true;
        decoder.feed(bytes);
        while (true) {
            const fix::Decoded outcome = decoder.next(message);
            if (outcome == fix::Decoded::more) break;
            if (outcome == fix::Decoded::garbled) {
                log_.say("the core sends garbled bytes: " + decoder.garbled().text);
                return true;
            }
            try {
                if (!handle(std::move(message))) return false;
            } catch (const fix::FieldError& error) {
                log_.say(fmt::format("the core sends a wrong message: {}", error.what()));
                return true;
            }
        }
    }
    return false;
}

bool CoreLink::handle(Message&& message) {
    const auto number = static_cast<std::uint64_t>(message.integer(CoreTag::connection));
    const ConnectionId connection = link_ << 40 | number;
    Event event;
    event.connection = connection;
    if (message.is(connection_closed)) {
        const auto known = users_.find(connection);
        if (known == users_.end()) return true;
        event.kind = Event::Kind::closed;
        event.user = std::move(known->second);
        users_.erase(known);
        return take_(std::move(event));
    }
    if (message.is(output_written)) return handle_written(message, connection);
    event.fault = fault_of(message);
    // A connection is of the user that its first message names: a Logon, or the session refuses it.
    std::string& user = users_[connection];
    if (user.empty()) user = message.get_or(Tag::sender_comp_id, "?");
    event.user = user;
    for (const int tag : core_tags) message.erase(tag);
    event.message = in_budget(std::move(message));
    return event.message != nullptr && take_(std::move(event));
}

bool CoreLink::handle_written(const Message& message, ConnectionId connection) {
    const auto known = users_.find(connection);
    if (known == users_.end()) return true;
    Event event;
    event.kind = Event::Kind::written;
    event.user = known->second;
    event.connection = connection;
    event.next = message.integer(CoreTag::next);
    event.fault = fault_of(message);
    return take_(std::move(event));
}

std::shared_ptr<const Message> CoreLink::in_budget(Message&& message) {
    struct Kept {
        Message message;
        ByteShare share;
    };
    auto kept = std::make_shared<Kept>();
    while (!kept->share.take(budget_, fix::kept_bytes(message))) {
        if (ended_.load(std::memory_order_relaxed)) return nullptr;
        std::this_thread::sleep_for(budget_retry);
    }
    kept->message = std::move(message);
    return {kept, &kept->message};
}

bool CoreLink::end_connections() {
    for (auto& [connection, user] : users_) {
        Event event;
        event.kind = Event::Kind::closed;
        event.user = std::move(user);
        event.connection = connection;
        if (!take_(std::move(event))) return false;
    }
    users_.clear();
    return true;
}

}  // namespace strid::exchange
