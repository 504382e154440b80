// SPDX-License-Identifier: Apache-2.0
//
// A socket, or another descriptor, that is closed with its owner. Any thread may send while another
// receives; each of both is for one thread at a time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace strid::exchange {

class Socket {
  public:
    Socket() = default;
    explicit Socket(int descriptor) noexcept : descriptor_(descriptor) {}
    Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    Socket& operator=(Socket&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }
    ~Socket();

    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
    [[nodiscard]] explicit operator bool() const noexcept { return descriptor_ >= 0; }
    void close() noexcept { *this = Socket(); }
    /// Both directions end, also for threads that wait in them. The descriptor stays.
    void shut_down() noexcept;

    /// Waits until all is sent. False where the other side is gone.
    [[nodiscard]] bool send_all(std::string_view bytes) noexcept;
    /// Does not wait: how many bytes were taken, -1 where the other side is gone.
    [[nodiscard]] std::ptrdiff_t send_some(std::string_view bytes) noexcept;
    /// Appends what is there, `bytes_max` at most, to `bytes`. Does not wait: 0 where nothing is
    /// there, -1 at the end.
    [[nodiscard]] std::ptrdiff_t receive_some(std::string& bytes, std::size_t bytes_max);
    /// Whether there is something to receive, or the end, within the time.
    [[nodiscard]] bool wait_readable(int timeout_ms) noexcept;

  private:
    int descriptor_ = -1;
};

/// Sends without delay: messages are small and are waited for.
void set_no_delay(const Socket& socket) noexcept;
void set_non_blocking(const Socket& socket) noexcept;

}  // namespace strid::exchange
