// SPDX-License-Identifier: Apache-2.0
#include "socket_output.hpp"

#include <utility>

#include <strid/base/error.hpp>
#include <strid/connector/transport.hpp>

#include "socket_input.hpp"

namespace strid::detail {

bool is_socket_output(std::string_view name) noexcept {
    return is_socket_address(name.substr(0, name.find('?'))) || name.starts_with("tls://");
}

SocketOutput::SocketOutput(const std::string& address, RowFormat format)
    : place_(TransportAddress(address)),
      objects_(place_.is_json || format == RowFormat::json_lines
                   ? std::make_unique<MessageRows>(place_.text)
                   : nullptr) {}

void SocketOutput::begin() {
    rows_ = place_.listens ? listen_for_readers(place_, run_) : connect_rows(place_, run_);
    take_header();
}

/// It gives the names of objects, and goes to the readers of CSV.
void SocketOutput::take_header() {
    if (header_.empty()) return;
    const std::string header = std::exchange(header_, {});
    if (objects_) {
        objects_->set_columns(names_in_row(header));
    } else {
        rows_->set_header(header);
    }
}

void SocketOutput::write(std::string_view rows) {
    take_header();
    if (rows.empty()) return;
    if (objects_) {
        text_.clear();
        objects_->for_each(rows,
                           [this](const auto& message) { (text_ += message.payload) += '\n'; });
        rows = text_;
    }
    rows_->write(rows);
}

void SocketOutput::end() {
    const auto rows = std::exchange(rows_, nullptr);
    rows->end();
}

void SocketOutput::let_go() noexcept {
    if (rows_) rows_->let_go();
    rows_.reset();
}

void SocketOutput::discard() noexcept {
    const std::scoped_lock lock(mutex_);
    if (users_ == 0) rows_.reset();
}

}  // namespace strid::detail
