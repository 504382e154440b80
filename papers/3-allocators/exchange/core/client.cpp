// SPDX-License-Identifier: Apache-2.0
#include "core/client.hpp"

#include <algorithm>
#include <span>

namespace strid::exchange {

namespace {

constexpr std::size_t record_bytes = std::size_t{16} << 10;

/// 0 where nothing was moved yet, -1 at the end.
std::ptrdiff_t outcome_of(const http::SecureChannel::Step& step) noexcept {
    return step.events != 0 ? 0 : -1;
}

}  // namespace

std::ptrdiff_t Client::send_some(std::string_view bytes) {
    if (!tls) return socket.send_some(bytes);
    std::size_t sent = 0;
    while (sent < bytes.size()) {
        const auto step = tls->send(bytes.substr(sent));
        if (step.bytes == 0 && step.events == 0) return -1;
        if (step.bytes == 0) break;
        sent += step.bytes;
    }
    return static_cast<std::ptrdiff_t>(sent);
}

std::ptrdiff_t Client::receive_some(std::string& bytes, std::size_t bytes_max) {
    if (!tls) return socket.receive_some(bytes, bytes_max);
    // A whole record at least: what stays in the channel is nothing that a poll would report.
    bytes_max = std::max(bytes_max, record_bytes);
    const std::size_t before = bytes.size();
    while (bytes.size() - before + record_bytes <= bytes_max) {
        const std::size_t end = bytes.size();
        bytes.resize(end + record_bytes);
        const auto step = tls->receive(std::span(bytes).subspan(end));
        bytes.resize(end + step.bytes);
        if (step.bytes != 0) continue;
        if (end == before) return outcome_of(step);
        break;
    }
    return static_cast<std::ptrdiff_t>(bytes.size() - before);
}

}  // namespace strid::exchange
