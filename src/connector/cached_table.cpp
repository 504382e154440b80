// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/connector/cached_table.hpp>
#include <strid/engine/base/excerpt.hpp>

namespace strid::connector {

TableConnections::TableConnections(std::string address, std::vector<std::string> columns,
                                   std::size_t fields, std::size_t key)
    : address_(std::move(address)) {
    check_transport_address(address_);  // before it stands in a message
    if (columns.size() != fields) {
        throw GraphError(fmt::format("{}: {} columns for a row of {} members", address_,
                                     columns.size(), fields));
    }
    query_ = {.key = columns[key], .columns = std::move(columns)};
    idle_.push_back(connected());
}

TableConnections::~TableConnections() = default;

std::unique_ptr<TransportTable> TableConnections::connected() const {
    auto table = make_transport_table(address_, query_);
    table->open();
    return table;
}

std::optional<std::vector<std::string>> TableConnections::find(const std::string& key) {
    std::unique_ptr<TransportTable> table;
    {
        const std::lock_guard lock(mutex_);
        ++questions_;
        if (!idle_.empty()) {
            table = std::move(idle_.back());
            idle_.pop_back();
        }
    }
    std::optional<std::vector<std::string>> values;
    const bool was_idle = table != nullptr;
    if (!was_idle) table = connected();
    try {
        values = table->find(key);
    } catch (const ConnectionLost&) {
        // The server may have been away since it was used last: the others are lost as well.
        if (!was_idle) throw;
        {
            const std::lock_guard lock(mutex_);
            idle_.clear();
        }
        table = connected();
        values = table->find(key);
    }
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(table));
    return values;
}

std::uint64_t TableConnections::questions() const {
    const std::lock_guard lock(mutex_);
    return questions_;
}

void TableConnections::refuse(const std::string& key, const detail::FieldFault& fault,
                              const std::string& value) const {
    throw InputOutputError(fmt::format("{}: of key {} the column '{}': {}: \"{}\"", address_, key,
                                       query_.columns[fault.field], fault.reason, excerpt(value)));
}

}  // namespace strid::connector
