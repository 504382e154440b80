// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <strid/engine/base/service_manager.hpp>

namespace strid::detail {

std::string service_socket() {
    const char* const socket = std::getenv("NOTIFY_SOCKET");
    const bool is_one = socket != nullptr && (*socket == '/' || *socket == '@');
    if (!is_one || std::strlen(socket) >= sizeof(::sockaddr_un::sun_path)) return {};
    return socket;
}

void send_to_service_manager(const std::string& socket, std::string_view lines) noexcept {
    ::sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::copy(socket.begin(), socket.end(), address.sun_path);
    if (socket.front() == '@') address.sun_path[0] = '\0';
    const int descriptor = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return;
    const auto bytes = static_cast<::socklen_t>(offsetof(::sockaddr_un, sun_path) + socket.size());
    (void)::sendto(descriptor, lines.data(), lines.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                   reinterpret_cast<const ::sockaddr*>(&address), bytes);
    ::close(descriptor);
}

}  // namespace strid::detail
