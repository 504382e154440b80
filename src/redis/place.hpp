// SPDX-License-Identifier: Apache-2.0
//
// The address of a stream in its parts. A plain value.
#pragma once

#include <string>

#include <strid/connector/transport.hpp>

namespace strid::redis {

/// Where a stream is, of an address whose other options were taken.
struct Place {
    /// Reads the environment. Throws GraphError.
    explicit Place(TransportAddress& from);

    std::string address;  // for messages
    std::string host;
    int port = 0;
    std::string stream;
    int database = 0;
    std::string user;
    std::string password;  // empty: none
};

}  // namespace strid::redis
