// SPDX-License-Identifier: Apache-2.0
//
// A socket of TCP that listens. Owns the descriptor. One thread, except for accept(), which one
// thread may call while others only look.
#pragma once

#include <cstdint>
#include <string>

namespace strid::http {

/// A descriptor, closed with its owner.
class Descriptor {
  public:
    explicit Descriptor(int number = -1) noexcept : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
    Descriptor& operator=(Descriptor&& other) noexcept;
    ~Descriptor();

    [[nodiscard]] int get() const noexcept { return number_; }
    [[nodiscard]] int release() noexcept;

  private:
    int number_;
};

class Listener {
  public:
    /// Listens at an address of the host; port 0: one that is free. Throws InputOutputError where
    /// the host is not known, or the port is in use or not allowed.
    Listener(const std::string& host, std::uint16_t port);

    [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }
    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    /// Whether only programs of this machine reach it: an address of the loopback.
    [[nodiscard]] bool is_local() const noexcept { return is_local_; }
    /// The next connection, which does not block; -1: none is there, or the system refused it.
    [[nodiscard]] Descriptor accept() const noexcept;

  private:
    Descriptor socket_;
    std::uint16_t port_ = 0;
    bool is_local_ = false;
};

}  // namespace strid::http
