// SPDX-License-Identifier: Apache-2.0
#include "socket_transports.hpp"

#include <memory>
#include <utility>

#include "socket_clients.hpp"
#include "socket_place.hpp"
#include "socket_stream.hpp"

namespace strid::detail {

namespace {

std::unique_ptr<TransportInput> opened(TransportAddress address) {
    SocketInputPlace place(address);
    if (place.clients_max != 0) return std::make_unique<SocketClients>(std::move(place));
    return std::make_unique<SocketStream>(std::move(place));
}

}  // namespace

std::vector<Transport> socket_transports() {
    std::vector<Transport> all;
    for (const char* const scheme : {"tcp", "tcp-listen", "tls", "unix", "unix-listen"}) {
        all.push_back({.scheme = scheme, .goes_away = true, .input = &opened});
    }
    return all;
}

}  // namespace strid::detail
