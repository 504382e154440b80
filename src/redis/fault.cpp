// SPDX-License-Identifier: Apache-2.0
#include "fault.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include <strid/base/error.hpp>

namespace strid::redis {

namespace {

struct Fault {
    std::string_view code;  // the error begins with it
    bool may_pass = false;
    std::string_view sentence;
};

constexpr std::array<Fault, 17> faults = {{
    {"LOADING", true, "the server is still loading its data"},
    {"OOM", true, "the server has no memory left (maxmemory)"},
    {"READONLY", true, "the server is a replica, which takes no rows"},
    {"MASTERDOWN", true, "the server is a replica that has lost its master"},
    {"NOREPLICAS", true, "the server has fewer replicas than it asks for (min-replicas-to-write)"},
    {"MISCONF", true, "the server cannot write its data to its disk, and takes no rows (MISCONF)"},
    {"BUSY", true, "the server is busy with a script"},
    {"TRYAGAIN", true, "the server is moving its data to another one"},
    {"CLUSTERDOWN", true, "the cluster of the server is down"},
    {"ERR max number of clients", true, "the server takes no more connections (maxclients)"},
    {"WRONGPASS", false, "the server refuses the user or the password"},
    {"NOAUTH", false, "the server asks for a password: STRID_REDIS_PASSWORD has it"},
    {"DENIED", false, "the server takes connections from its own machine only (protected-mode)"},
    {"MOVED", false, "the server is of a cluster, and another one of it has this stream"},
    {"ASK", false, "the server is of a cluster, and another one of it has this stream"},
    {"ERR DB index", false, "the server has no database of this number"},
    {"ERR SELECT is not allowed", false, "a cluster has the database 0 only"},
}};

/// The error that has ended a transaction, in the place of the sentence that says so.
std::string_view cause_of(std::string_view error) noexcept {
    constexpr std::string_view behind = "because of: ";
    const std::size_t found = error.find(behind);
    if (!error.starts_with("EXECABORT") || found == std::string_view::npos) return error;
    return error.substr(found + behind.size());
}

}  // namespace

void fail_of_reply(const Place& place, std::string_view error) {
    error = cause_of(error);
    if (error.starts_with("WRONGTYPE")) {
        throw InputOutputError(
            fmt::format("{}: the key '{}' is no stream", place.address, place.stream));
    }
    const auto* const found = std::find_if(faults.begin(), faults.end(), [error](const Fault& one) {
        return error.starts_with(one.code);
    });
    if (found == faults.end()) {
        throw InputOutputError(fmt::format("{}: the server refuses: {}", place.address, error));
    }
    const std::string text = fmt::format("{}: {}", place.address, found->sentence);
    if (found->may_pass) throw ConnectionLost(text);
    throw InputOutputError(text);
}

}  // namespace strid::redis
