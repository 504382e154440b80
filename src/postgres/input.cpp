// SPDX-License-Identifier: Apache-2.0
#include "input.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <poll.h>

namespace strid::postgres {

QueryInput::QueryInput(TransportAddress address)
    : rows_(address), connection_(address, Connection::of_reader()) {
    connection_.open();
    if (rows_.query.empty()) {
        rows_.query = "select * from " + quoted_table(connection_, rows_.table);
    }
    // The same rows come in the same order each time, so far as the query says so.
    connection_.run("set synchronize_seqscans = off", PGRES_COMMAND_OK);
    connection_.run("set max_parallel_workers_per_gather = 0", PGRES_COMMAND_OK);
    // Its first row may take the server long: read() waits for it, and a stop is seen meanwhile.
    const std::string copy =
        "copy " + detail::in_parentheses(rows_.query) + " to stdout (format csv, header)";
    if (::PQsendQuery(connection_.get(), copy.c_str()) != 1) connection_.fail();
}

/// False: the server has not answered yet.
bool QueryInput::begins(int wait_ms) {
    while (::PQisBusy(connection_.get()) != 0) {
        if (!wait(wait_ms)) return false;
    }
    const Result answer(::PQgetResult(connection_.get()));
    if (::PQresultStatus(answer.get()) != PGRES_COPY_OUT) connection_.fail(answer.get());
    has_begun_ = true;
    return true;
}

/// False: nothing has come.
bool QueryInput::wait(int wait_ms) {
    struct pollfd waited {
        ::PQsocket(connection_.get()), POLLIN, 0
    };
    const int ready = ::poll(&waited, 1, wait_ms);
    if (ready == 0 || (ready < 0 && errno == EINTR)) return false;
    if (::PQconsumeInput(connection_.get()) == 0) connection_.fail();
    return true;
}

ByteReader::Result QueryInput::read(std::span<char> out, int wait_ms) {
    using enum ByteReader::Status;
    if (!has_begun_ && !begins(wait_ms)) return {waiting, 0};
    std::size_t bytes = 0;
    while (bytes != out.size() && !has_ended_) {
        if (left_.empty()) {
            char* row = nullptr;
            const int size = ::PQgetCopyData(connection_.get(), &row, 1);
            row_.reset(row);
            if (size == 0) {
                if (bytes != 0) break;
                if (!wait(wait_ms)) return {waiting, 0};
                continue;
            }
            if (size == -2) connection_.fail();
            if (size == -1) {
                connection_.expect_end();
                connection_.close();
                has_ended_ = true;
                break;
            }
            left_ = {row, static_cast<std::size_t>(size)};
        }
        const std::size_t some = std::min(left_.size(), out.size() - bytes);
        std::memcpy(out.data() + bytes, left_.data(), some);
        left_.remove_prefix(some);
        bytes += some;
    }
    if (bytes == 0) return {end, 0};
    return {ByteReader::Status::read, bytes};
}

}  // namespace strid::postgres
