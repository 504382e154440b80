// SPDX-License-Identifier: Apache-2.0
#include "http_input.hpp"

#include <cerrno>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include <sys/eventfd.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/engine/base/reloads.hpp>
#include <strid/engine/base/thread_name.hpp>
#include <strid/engine/http/connection_threads.hpp>
#include <strid/engine/http/listener.hpp>

#include "body_queue.hpp"
#include "http_place.hpp"
#include "http_receiver.hpp"

namespace strid::detail {

namespace {

/// A server whose bodies are the text of the input, from its beginning to its end.
class HttpInput final : public TransportInput {
  public:
    /// Listens. Throws GraphError, InputOutputError.
    explicit HttpInput(TransportAddress address) : HttpInput(address, HttpPlace(address)) {}
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
    using Receiver = std::shared_ptr<HttpReceiver>;

    HttpInput(const TransportAddress& address, const HttpPlace& place)
        : queue_(place.waiting_bytes_max),
          receiver_(made(place)),
          listener_(place.host, place.port),
          ending_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
          connections_(place.clients_max, [this](http::Descriptor socket) {
              receiver()->serve(std::move(socket), ending_.get());
          }) {
        if (!listener_.is_local() && place.token.empty()) {
            address.refuse(
                "other machines reach this address: set a token in the environment's "
                "STRID_HTTP_TOKEN, or listen at 127.0.0.1");
        }
        if (ending_.get() < 0) {
            throw InputOutputError(place.address + ": " + std::generic_category().message(errno));
        }
        thread_ = std::thread([this] {
            name_this_thread("strid-http");
            connections_.take_from(listener_, ending_.get(), receiver()->busy_text());
        });
        reload_.add(address.text().substr(0, address.text().find('?')),
                    [this](const std::string& text) { return prepare(text); });
    }

    [[nodiscard]] Receiver made(const HttpPlace& place) {
        http::TlsFiles files = place.tls;
        files.owner = this;
        return std::make_shared<HttpReceiver>(place, queue_,
                                              http::tls_server(files, place.address));
    }
    [[nodiscard]] Receiver receiver() const {
        const std::lock_guard lock(mutex_);
        return receiver_;
    }
    /// Other options, for connections that come from then on.
    [[nodiscard]] Reloads::Change prepare(const std::string& text) {
        TransportAddress address(text);
        const HttpPlace place(address);
        const bool is_secure = !place.tls.certificate.empty();
        if (is_secure == receiver()->place().tls.certificate.empty()) {
            address.refuse("connections cannot begin or cease to be encrypted in a run");
        }
        return [this, next = made(place)] {
            queue_.set_bytes_max(next->place().waiting_bytes_max);
            connections_.set_threads_max(next->place().clients_max);
            const std::lock_guard lock(mutex_);
            receiver_ = next;
        };
    }

    BodyQueue queue_;
    mutable std::mutex mutex_;
    Receiver receiver_;  // under mutex_
    const http::Listener listener_;
    const http::Descriptor ending_;
    http::ConnectionThreads connections_;
    std::thread thread_;     // it uses the rest
    Reloads::Entry reload_;  // last: it does, too
};

}  // namespace

Transport http_input_transport() {
    return {.scheme = "http-listen", .goes_away = true, .input = [](TransportAddress address) {
                return std::make_unique<HttpInput>(std::move(address));
            }};
}

}  // namespace strid::detail
