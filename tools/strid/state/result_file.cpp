// SPDX-License-Identifier: Apache-2.0
#include "result_file.hpp"

#include <cerrno>
#include <span>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/base/file_use.hpp>
#include <strid/base/whole_file.hpp>
#include <strid/connector/transport.hpp>
#include <strid/engine/base/file_place.hpp>
#include <strid/state/codec.hpp>

namespace strid::tool {

namespace {

std::string message_of(int error) {
    return std::generic_category().message(error);
}

void find(ResultFile& result, const UnfinishedFile& unfinished) {
    const auto place = find_place(result.path);
    if (!place) {
        result.fault = "its folder cannot be found: " + message_of(errno);
        return;
    }
    if (!is_unfinished_name(unfinished.beside, place->name)) {
        result.fault = "the snapshot names no unfinished file of this result";
        return;
    }
    result.beside = place->beside(unfinished.beside);
    struct stat status {};
    if (::lstat(result.beside.c_str(), &status) != 0) {
        result.fault = message_of(errno);
        return;
    }
    if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid() || status.st_nlink != 1) {
        result.fault = "it is no file of this user alone";
        return;
    }
    result.found_bytes = static_cast<std::uint64_t>(status.st_size);
    if (*result.found_bytes < result.bytes) {
        result.fault = "it has " + std::to_string(*result.found_bytes) + " bytes now";
    }
}

ResultFile result_file(const std::string& path, std::span<const std::byte> prepared) {
    ResultFile result{.path = path};
    if (is_transport_address(path)) {
        result.is_table = true;
        result.bytes = prepared.size();
        return result;
    }
    UnfinishedFile unfinished;
    try {
        StateReader reader{prepared};
        state::load(reader, unfinished);
        reader.expect_end();
    } catch (const StateError&) {
        result.fault = "this version of Strid cannot read what the snapshot has of it";
        return result;
    }
    result.bytes = unfinished.bytes;
    if (!unfinished.beside.empty()) find(result, unfinished);
    return result;
}

}  // namespace

std::vector<ResultFile> result_files(const SnapshotDescription& description) {
    std::vector<ResultFile> results;
    for (const auto& [path, prepared] : description.results) {
        results.push_back(result_file(path, prepared));
    }
    return results;
}

// A run locks the file that it writes.
void remove_unfinished(const ResultFile& result) {
    const auto fail = [&](const std::string& why) {
        throw InputOutputError(result.beside + ": cannot be removed: " + why);
    };
    if (!result.found_bytes) fail(result.fault);
    constexpr int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    const int opened = ::open(result.beside.c_str(), flags);
    if (opened < 0) fail(message_of(errno));
    const bool is_written = ::flock(opened, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    const int error = !is_written && ::unlink(result.beside.c_str()) != 0 ? errno : 0;
    ::close(opened);
    if (is_written) fail("a run writes it");
    if (error != 0) fail(message_of(error));
}

}  // namespace strid::tool
