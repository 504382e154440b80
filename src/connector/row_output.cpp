// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <strid/base/error.hpp>
#include <strid/connector/output_file.hpp>
#include <strid/connector/row_output.hpp>
#include <strid/connector/transport.hpp>

#include "socket_output.hpp"
#include "table_output.hpp"

namespace strid {

std::shared_ptr<RowOutput> make_row_output(std::string name, Writing writing, RowFormat format) {
    if (detail::is_socket_output(name)) {
        return std::make_shared<detail::SocketOutput>(name, format);
    }
    if (is_transport_address(name)) {
        if (format != RowFormat::csv) {
            throw GraphError(name +
                             ": messages of JSON are asked for by format=json in the address");
        }
        return std::make_shared<detail::TableOutput>(std::move(name), writing);
    }
    return std::make_shared<OutputFile>(std::move(name), writing, format);
}

void RowOutput::begin_for(std::string_view header, RunScope* run) {
    rows_missing_ = false;
    run_ = run;
    snapshot_ = next_ = 0;
    users_behind_ = 0;
    rows_behind_.clear();
    header_ = header;
    has_header_ = !header.empty();
    begin();
}

void RowOutput::open(std::string_view header, RunScope* run) {
    if (run != nullptr) run->add(shared_from_this());
    const std::scoped_lock lock(mutex_);
    if (users_ == 0) begin_for(header, run);
    ++users_;
}

void RowOutput::begin_with(std::string_view header) {
    const std::scoped_lock lock(mutex_);
    if (!std::exchange(has_header_, true)) header_ = header;
}

void RowOutput::append(std::string_view rows, std::uint64_t snapshot) {
    const std::scoped_lock lock(mutex_);
    if (snapshot > snapshot_) {
        rows_behind_ += rows;
    } else {
        write(rows);
    }
}

void RowOutput::begin_snapshot(std::uint64_t snapshot) {
    const std::scoped_lock lock(mutex_);
    next_ = snapshot;
    if (users_ == 0 || ++users_behind_ == users_) end_snapshot(snapshot);
}

/// Every user has begun it, or has closed: all rows that were written are before it.
void RowOutput::end_snapshot(std::uint64_t snapshot) {
    if (!is_open()) return;
    cut(snapshot);
    snapshot_ = snapshot;
    next_ = 0;
    users_behind_ = 0;
    write(std::exchange(rows_behind_, {}));
}

void RowOutput::close(std::uint64_t snapshot) {
    const std::scoped_lock lock(mutex_);
    if (users_ == 0) return;
    --users_;
    if (snapshot > snapshot_) --users_behind_;
    // One that has closed before a snapshot has all its rows in it.
    if (next_ != 0 && users_behind_ == users_) end_snapshot(next_);
    if (users_ > 0) return;
    if (rows_missing_) return let_go();
    end();
}

void RowOutput::abandon() noexcept {
    const std::scoped_lock lock(mutex_);
    rows_missing_ = true;
    if (users_ != 0 && --users_ == 0) let_go();
}

}  // namespace strid
