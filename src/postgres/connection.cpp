// SPDX-License-Identifier: Apache-2.0
#include "connection.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>
#include <sys/socket.h>

namespace strid::postgres {

namespace {

/// As libpq reads it: other characters than letters and digits are written as %XX.
std::string encoded(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
            out += c;
        } else {
            out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        }
    }
    return out;
}

/// The address without the options of a transport. With a limit for the time of connecting, and
/// with these options, where it has no others of their names.
std::string place_of(const TransportAddress& address, const Connection::Options& defaults) {
    if (!address.place().starts_with("//")) {
        address.refuse("the address of a server is postgres://USER@HOST:PORT/DATABASE");
    }
    std::string place = "postgresql:" + address.place();
    const char* separator = "?";
    const auto add = [&](std::string_view name, std::string_view value) {
        place += std::exchange(separator, "&") + encoded(name) + '=' + encoded(value);
    };
    const auto& given = address.left();
    const auto add_default = [&](std::string_view name, std::string_view value) {
        const bool is_given = std::any_of(given.begin(), given.end(),
                                          [name](const auto& one) { return one.first == name; });
        if (!is_given) add(name, value);
    };
    for (const auto& [name, value] : given) add(name, value);
    add_default("connect_timeout", "10");
    for (const auto& [name, value] : defaults) add_default(name, value);
    return place;
}

/// The lines of a message of the server, as one.
std::string one_line(std::string_view text) {
    std::string line;
    for (const char c : text) line += c == '\n' || c == '\t' ? ' ' : c;
    while (!line.empty() && line.back() == ' ') line.pop_back();
    return line;
}

/// The server does not work for now, by the class of its code: a connection that is refused or
/// lost, too many of them, a server that begins or ends, a slot that another connection uses.
bool is_passing(std::string_view code) {
    return code.starts_with("08") || code.starts_with("57P") || code == "53300" ||
           code == "40001" || code == "40P01" || code == "55006";
}

}  // namespace

Connection::Options Connection::of_reader(Options others) {
    for (const auto& [name, value] : {std::pair{"keepalives_idle", "20"},
                                      {"keepalives_interval", "5"},
                                      {"keepalives_count", "4"},
                                      {"tcp_user_timeout", "40000"}}) {
        others.emplace_back(name, value);
    }
    return others;
}

Connection::Connection(const TransportAddress& address, const Options& defaults)
    : address_(address.text()), place_(place_of(address, defaults)) {
    char* fault = nullptr;
    ::PQconninfoOption* const options = ::PQconninfoParse(place_.c_str(), &fault);
    if (options != nullptr) {
        ::PQconninfoFree(options);
        return;
    }
    const std::string reason = fault == nullptr ? "no memory" : one_line(fault);
    ::PQfreemem(fault);
    address.refuse(reason);
}

void Connection::open() {
    close();
    connection_.reset(::PQconnectdb(place_.c_str()));
    if (connection_ == nullptr) throw InputOutputError(address_ + ": no memory for a connection");
    if (::PQstatus(get()) != CONNECTION_OK) {
        const std::string reason = one_line(::PQerrorMessage(get()));
        // libpq has no code for it: a server that answers with FATAL has refused, for good unless
        // it is beginning, ending or full.
        const bool is_refused = reason.find("FATAL:") != std::string::npos &&
                                reason.find("the database system is") == std::string::npos &&
                                reason.find("terminating connection") == std::string::npos &&
                                reason.find("too many") == std::string::npos &&
                                reason.find("connection slots") == std::string::npos;
        connection_.reset();
        if (is_refused && !has_been_open_) throw InputOutputError(address_ + ": " + reason);
        throw ConnectionLost(address_ + ": " + reason);
    }
    ::PQsetNoticeProcessor(
        get(), [](void*, const char*) {}, nullptr);
    if (::PQsetClientEncoding(get(), "UTF8") != 0) fail();
    has_been_open_ = true;
    const std::lock_guard lock(mutex_);
    socket_ = ::PQsocket(get());
    if (is_interrupted_) ::shutdown(socket_, SHUT_RDWR);
}

void Connection::close() noexcept {
    {
        const std::lock_guard lock(mutex_);
        socket_ = -1;
    }
    connection_.reset();
}

void Connection::interrupt() noexcept {
    {
        const std::lock_guard lock(mutex_);
        is_interrupted_ = true;
    }
    cut();
}

void Connection::cut() noexcept {
    const std::lock_guard lock(mutex_);
    if (socket_ >= 0) ::shutdown(socket_, SHUT_RDWR);
}

Result Connection::run(const std::string& command, ::ExecStatusType status) {
    Result result(::PQexec(get(), command.c_str()));
    if (::PQresultStatus(result.get()) != status) fail(result.get());
    return result;
}

Result Connection::run(const std::string& command, std::initializer_list<const char*> parameters,
                       ::ExecStatusType status) {
    const std::vector<const char*> values(parameters);
    Result result(::PQexecParams(get(), command.c_str(), static_cast<int>(values.size()), nullptr,
                                 values.data(), nullptr, nullptr, 0));
    if (::PQresultStatus(result.get()) != status) fail(result.get());
    return result;
}

void Connection::expect_end() {
    while (const Result result{::PQgetResult(get())}) {
        if (::PQresultStatus(result.get()) != PGRES_COMMAND_OK) fail(result.get());
    }
}

std::string Connection::quoted(std::string_view name) {
    char* const text = ::PQescapeIdentifier(get(), name.data(), name.size());
    if (text == nullptr) fail();
    std::string quoted = text;
    ::PQfreemem(text);
    return quoted;
}

void Connection::fail(const ::PGresult* result) {
    const char* const code =
        result == nullptr ? nullptr : ::PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const bool is_lost = ::PQstatus(get()) == CONNECTION_BAD || code == nullptr || is_passing(code);
    std::string reason;
    const auto add = [&](int field, const char* before) {
        const char* const text = code == nullptr ? nullptr : ::PQresultErrorField(result, field);
        if (text != nullptr) reason += before + one_line(text);
    };
    add(PG_DIAG_MESSAGE_PRIMARY, "");
    add(PG_DIAG_MESSAGE_DETAIL, ": ");
    add(PG_DIAG_CONTEXT, " (");
    if (reason.find(" (") != std::string::npos) reason += ')';
    add(PG_DIAG_MESSAGE_HINT, "; ");
    if (reason.empty()) reason = one_line(::PQerrorMessage(get()));
    if (is_lost) throw ConnectionLost(address_ + ": " + reason);
    throw InputOutputError(address_ + ": " + reason);
}

std::string quoted_table(Connection& connection, std::string_view table) {
    const std::size_t dot = table.find('.');
    if (dot == std::string_view::npos) return connection.quoted(table);
    return connection.quoted(table.substr(0, dot)) + '.' + connection.quoted(table.substr(dot + 1));
}

}  // namespace strid::postgres
