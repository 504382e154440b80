// SPDX-License-Identifier: Apache-2.0
//
// The output to clients, as far as they read it.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <sys/epoll.h>

#include "core/core.hpp"

namespace strid::exchange {

namespace {

constexpr int writable_max = 256;
constexpr std::size_t reading_factor = 16;
constexpr std::size_t all_clients_factor = 256;

}  // namespace

void Core::put_output(ClientOutput& output) {
    if (output.link != link_ || !session_) return;
    if (!output.error.empty()) return end_session(output.error);
    for (ClientOutput::One& one : output.messages) {
        Client* const client = find(one.client);
        if (client == nullptr || client->closing) continue;
        if (!one.mark.empty()) {
            client->mark = std::move(one.mark);
            client->marked_at = client->written_all + client->output.size() - client->written;
            touched_.push_back(one.client);
            continue;
        }
        if (one.bytes.empty()) {
            if (!one.reason.empty()) {
                log_.say(fmt::format("{}: closed: {}", client->name, one.reason));
            }
            client->closing = true;
            client->message_since_ns = now_ns_;  // it has no longer to read the rest
        }
        if (client->output.empty()) client->read_ns = now_ns_;
        client->output += one.bytes;
        output_bytes_ += one.bytes.size();
        touched_.push_back(one.client);
    }
}

bool Core::is_deaf(const Client& client) const noexcept {
    const std::size_t left = client.output.size() - client.written;
    if (left <= options_.output_bytes_max) return false;
    return left > reading_factor * options_.output_bytes_max ||
           now_ns_ > client.read_ns + options_.unread_ns_max;
}

void Core::end_deaf(const Client& client) {
    end_client(client.number, fmt::format("it does not read: {} bytes wait for it",
                                          client.output.size() - client.written));
}

void Core::end_largest_outputs() {
    while (output_bytes_ > all_clients_factor * options_.output_bytes_max) {
        const auto largest =
            std::max_element(clients_.begin(), clients_.end(), [](const auto& a, const auto& b) {
                return a.second->output.size() - a.second->written <
                       b.second->output.size() - b.second->written;
            });
        end_client(largest->first, fmt::format("{} bytes wait for all clients, most of them for it",
                                               output_bytes_));
    }
}

void Core::return_mark(Client& client) {
    if (client.mark.empty() || client.written_all < client.marked_at) return;
    // By the way of the client's messages, as report_closed().
    frames_.frames.push_back({0, std::exchange(client.mark, {})});
}

bool Core::flush(Client& client) {
    const std::string_view rest = std::string_view(client.output).substr(client.written);
    const std::ptrdiff_t sent = rest.empty() ? 0 : client.send_some(rest);
    if (sent < 0) {
        end_client(client.number, "");
        return false;
    }
    if (sent > 0) client.read_ns = now_ns_;
    client.written += static_cast<std::size_t>(sent);
    client.written_all += static_cast<std::uint64_t>(sent);
    output_bytes_ -= static_cast<std::size_t>(sent);
    return_mark(client);
    const std::size_t left = client.output.size() - client.written;
    if (left == 0) {
        client.output.clear();
        client.written = 0;
        if (client.closing) {
            end_client(client.number, "");
            return false;
        }
    } else if (is_deaf(client)) {
        end_deaf(client);
        return false;
    } else if (client.written >= left) {
        client.output.erase(0, std::exchange(client.written, 0));
    }
    const bool waits = left != 0;
    if (waits != client.waits_for_room) {
        client.waits_for_room = waits;
        epoll_event event{};
        event.events = EPOLLOUT;
        event.data.u64 = client.number;
        (void)::epoll_ctl(writable_.descriptor(), waits ? EPOLL_CTL_ADD : EPOLL_CTL_DEL,
                          client.socket.descriptor(), &event);
    }
    return true;
}

void Core::flush_touched() {
    for (const std::uint64_t number : std::exchange(touched_, {})) {
        if (Client* const client = find(number)) flush(*client);
    }
}

void Core::flush_waiting() {
    std::array<epoll_event, writable_max> events;
    const int count = ::epoll_wait(writable_.descriptor(), events.data(), writable_max, 0);
    for (int at = 0; at < count; ++at) {
        if (Client* const client = find(events[static_cast<std::size_t>(at)].data.u64)) {
            flush(*client);
        }
    }
}

}  // namespace strid::exchange
