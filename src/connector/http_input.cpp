// SPDX-License-Identifier: Apache-2.0
#include "http_input.hpp"

#include <cerrno>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include <sys/eventfd.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/engine/base/thread_name.hpp>
#include <strid/engine/http/connection_threads.hpp>
#include <strid/engine/http/listener.hpp>

#include "body_queue.hpp"
#include "http_place.hpp"
#include "http_receiver.hpp"

namespace strid::detail {

namespace {

constexpr std::size_t connections_max = 64;

/// A server whose bodies are the text of the input, from its beginning to its end.
class HttpInput final : public TransportInput {
  public:
    /// Listens. Throws GraphError, InputOutputError.
    explicit HttpInput(TransportAddress address)
        : place_(address),
          queue_(place_.waiting_bytes_max),
          receiver_(place_, queue_, http::tls_server(place_.tls, place_.address)),
          listener_(place_.host, place_.port),
          ending_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
          connections_(connections_max, [this](http::Descriptor socket) {
              receiver_.serve(std::move(socket), ending_.get());
          }) {
        if (!listener_.is_local() && place_.token.empty()) {
            address.refuse(
                "other machines reach this address: set a token in the environment's "
                "STRID_HTTP_TOKEN, or listen at 127.0.0.1");
        }
        if (ending_.get() < 0) {
            throw InputOutputError(place_.address + ": " + std::generic_category().message(errno));
        }
        thread_ = std::thread([this] {
            name_this_thread("strid-http");
            connections_.take_from(listener_, ending_.get(), receiver_.busy_text());
        });
    }
    ~HttpInput() override {
        queue_.close();
        const std::uint64_t one = 1;
        (void)!::write(ending_.get(), &one, sizeof one);  // never read: it stays readable
        thread_.join();
        connections_.end();
    }
    HttpInput(const HttpInput&) = delete;
    HttpInput& operator=(const HttpInput&) = delete;

    ByteReader::Result read(std::span<char> out, int wait_ms) override {
        return queue_.read(out, wait_ms);
    }
    [[nodiscard]] std::uint64_t bytes_waiting() const noexcept override {
        return queue_.bytes_waiting();
    }
    [[nodiscard]] std::uint64_t message_bytes_left() const noexcept override {
        return queue_.message_bytes_left();
    }
    void accepted(std::uint64_t bytes) override { queue_.accepted(bytes); }
    void passed(std::uint64_t bytes) override { queue_.passed(bytes); }

  private:
    const HttpPlace place_;
    BodyQueue queue_;
    HttpReceiver receiver_;
    const http::Listener listener_;
    const http::Descriptor ending_;
    http::ConnectionThreads connections_;
    std::thread thread_;  // last: it uses the rest
};

}  // namespace

Transport http_input_transport() {
    return {.scheme = "http-listen", .goes_away = true, .input = [](TransportAddress address) {
                return std::make_unique<HttpInput>(std::move(address));
            }};
}

}  // namespace strid::detail
