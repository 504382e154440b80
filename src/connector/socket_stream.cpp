// SPDX-License-Identifier: Apache-2.0
#include "socket_stream.hpp"

#include <exception>
#include <utility>

#include <poll.h>

#include <strid/base/error.hpp>

#include "run_of_input.hpp"

namespace strid::detail {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t stream_piece_bytes = std::size_t{64} << 10;
constexpr auto stream_handshake_wait = 10s;
/// At a stop so many bytes that have arrived are taken.
constexpr std::size_t stream_last_bytes_max = std::size_t{4} << 20;

http::SecureServer channels_of(const SocketPlace& place) {
    if (!place.is_tls) return http::tls_server(place.tls, place.text);
    return http::tls_client(place.tls, place.host, place.text);
}

}  // namespace

SocketStream::SocketStream(SocketInputPlace place)
    : place_(std::move(place)),
      run_(RunOfInput::current()),
      secure_(channels_of(place_)),
      socket_(std::make_unique<SocketInput>(place_.address)),
      cutter_(place_.framing, place_.message_bytes_max) {
    // A connection that fails its handshake does not close the port to the client that is meant.
    if (secure_ != nullptr && place_.listens) socket_->keep_listening();
}

void SocketStream::fail(const std::string& reason) const {
    throw InputOutputError(place_.text + ": " + reason);
}

ByteReader::Result SocketStream::read(std::span<char> out, int wait_ms) {
    if (given_ == text_.size()) {
        text_.clear();
        given_ = 0;
        if (!has_ended_ && connect(wait_ms)) (void)receive(wait_ms);
        if (text_.empty()) {
            return {has_ended_ ? ByteReader::Status::end : ByteReader::Status::waiting, 0};
        }
    }
    const std::size_t bytes = text_.copy(out.data(), out.size(), given_);
    given_ += bytes;
    return {ByteReader::Status::read, bytes};
}

/// False: not yet.
bool SocketStream::connect(int wait_ms) {
    if (peer_) return true;
    const int descriptor = socket_->connected(wait_ms);
    if (descriptor < 0) return false;
    peer_ = std::make_unique<PeerStream>(http::Descriptor(descriptor), secure_);
    handshake_until_ = std::chrono::steady_clock::now() + stream_handshake_wait;
    return true;
}

/// Appends what has come, at once or in the time. False: nothing has.
bool SocketStream::receive(int wait_ms) {
    const std::size_t before = text_.size();
    text_.resize(before + stream_piece_bytes);
    PeerStream::Step step = peer_->receive(std::span(text_).subspan(before));
    if (step.bytes == 0 && step.events != 0 && wait_ms > 0) {
        struct pollfd waited {
            peer_->descriptor(), step.events, 0
        };
        if (::poll(&waited, 1, wait_ms) > 0) {
            step = peer_->receive(std::span(text_).subspan(before));
        }
    }
    text_.resize(before + step.bytes);
    if (!peer_->is_in_handshake()) socket_.reset();  // no other client is taken
    if (step.bytes != 0) {
        if (place_.framing == Framing::lines) return true;
        const std::string piece = text_.substr(before);
        text_.resize(before);
        if (cutter_.add(piece, text_)) return true;
        fail("a message has more than " + std::to_string(place_.message_bytes_max) +
             " bytes (message=SIZE), or has no length in front");
    }
    const bool is_late =
        peer_->is_in_handshake() && std::chrono::steady_clock::now() > handshake_until_;
    if (step.events == 0 || is_late) end();
    return false;
}

/// The connection is over, or has come to nothing: of a client that was no client another one is
/// waited for.
void SocketStream::end() {
    std::string reason = peer_->error();
    if (peer_->is_in_handshake()) {
        if (reason.empty()) {
            reason =
                "TLS: the other end has closed the connection, or is silent, before the "
                "handshake was over";
        }
        if (!place_.listens) fail(reason);
        if (run_ != nullptr) run_->warn(place_.text + ": a client was refused: " + reason);
        peer_.reset();
        return;
    }
    if (!reason.empty()) fail("cannot read: " + reason);
    if (peer_->was_cut()) {
        fail(
            "the connection was cut: the other end has not announced the end, as TLS asks for, "
            "and rows may be missing");
    }
    if (cutter_.has_begun()) fail("the connection has ended in the middle of a message");
    peer_->announce_end();
    has_ended_ = true;
}

void SocketStream::take_last() noexcept {
    try {
        while (peer_ && !has_ended_ && text_.size() < stream_last_bytes_max && receive(0)) {
        }
    } catch (const std::exception&) {  // read() finds it again
    }
}

}  // namespace strid::detail
