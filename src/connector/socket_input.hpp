// SPDX-License-Identifier: Apache-2.0
//
// How an input that is a socket comes to its descriptor, without ever waiting longer than asked:
//
//     tcp://HOST:PORT          connects            tcp-listen://[HOST]:PORT   takes one client
//     unix:///PATH             connects            unix-listen:///PATH        takes one client
//
// Owns the descriptors until the connected one is handed over, and the file of a Unix socket it
// listens at, which is removed when a client has come. Owned by one RawInput; private to the
// connector room.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <sys/socket.h>

namespace strid::detail {

/// The system's text for a value of errno.
[[nodiscard]] std::string reason_of(int error);

/// Whether it is the address of a socket without options: with options it is one of a transport
/// (socket_transports.hpp).
[[nodiscard]] bool is_socket_address(std::string_view path) noexcept;
/// One that takes clients.
[[nodiscard]] bool is_listening_address(std::string_view path) noexcept;

class SocketInput {
  public:
    /// Looks a host up, and listens where that is asked for. So many clients wait in the system
    /// until they are taken. Throws InputOutputError.
    explicit SocketInput(std::string address, int backlog = 1);
    ~SocketInput();
    SocketInput(const SocketInput&) = delete;
    SocketInput& operator=(const SocketInput&) = delete;

    /// The connected, nonblocking descriptor, which is the caller's; -1: none within `wait_ms`.
    /// Throws InputOutputError where no address of the host can be connected to.
    int connected(int wait_ms);
    /// From now on a client that was taken may be none, and another one be taken after it: listens
    /// until its own end. By default it ceases at the first.
    void keep_listening() noexcept { keeps_listening_ = true; }
    /// The descriptor that listens, for an owner that takes its clients itself.
    [[nodiscard]] int listener() const noexcept { return descriptor_; }

  private:
    struct Place {
        ::sockaddr_storage address;
        ::socklen_t bytes;
    };
    static Place place_of_path(const std::string& path);

    void look_up(const std::string& host, const std::string& port);
    void listen();
    int listen_at(const Place& place);
    void remove_stale(const Place& place);
    int begin_connecting();
    int accepted(int wait_ms);
    void close() noexcept;
    [[noreturn]] void fail(const std::string& reason) const;

    std::string name_;
    std::string path_;  // of a Unix socket
    std::string owned_path_;
    std::vector<Place> places_;  // still to be tried
    bool listens_ = false;
    bool keeps_listening_ = false;
    int backlog_;
    int descriptor_ = -1;
    int error_ = 0;  // of the last place that was tried
};

}  // namespace strid::detail
