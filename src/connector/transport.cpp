// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <strid/connector/run_of_input.hpp>
#include <strid/connector/transport.hpp>
#include <strid/engine/connector/message_rows.hpp>

#include "http_input.hpp"
#include "run_of_input.hpp"
#include "socket_input.hpp"
#include "socket_transports.hpp"

namespace strid {

namespace {

/// A transport that is a library of Strid, for programs without it.
struct KnownTransport {
    std::string_view scheme;
    std::string_view library;
    std::string_view option;   // of CMake
    std::string_view package;  // of Debian
};
constexpr std::array<KnownTransport, 10> known_transports = {
    {{"http", "webhook", "STRID_WEBHOOK", "libcurl4-openssl-dev"},
     {"https", "webhook", "STRID_WEBHOOK", "libcurl4-openssl-dev"},
     {"kafka", "kafka", "STRID_KAFKA", "librdkafka-dev"},
     {"mqtt", "mqtt", "STRID_MQTT", "libmosquitto-dev"},
     {"nats", "nats", "STRID_NATS", "libnats-dev"},
     {"parquet", "parquet", "STRID_PARQUET", "pyarrow of Python"},
     {"postgres", "postgres", "STRID_POSTGRES", "libpq-dev"},
     {"postgresql", "postgres", "STRID_POSTGRES", "libpq-dev"},
     {"redis", "redis", "STRID_REDIS", "libhiredis-dev"},
     {"sqlite", "sqlite", "STRID_SQLITE", "libsqlite3-dev"}}};

std::vector<Transport> with_sockets(std::vector<Transport> transports) {
    for (Transport& one : detail::socket_transports()) transports.push_back(std::move(one));
    return transports;
}

struct Registry {
    std::mutex mutex;
    // Under the mutex:
    std::vector<Transport> transports = with_sockets({detail::http_input_transport()});
};

Registry& registry() {
    static Registry one;
    return one;
}

/// The text before the first colon, where it may be a scheme; else empty.
std::string_view scheme_of(std::string_view name) noexcept {
    const std::size_t colon = name.find(':');
    if (colon == std::string_view::npos) return {};
    const std::string_view scheme = name.substr(0, colon);
    const bool is_one = std::all_of(scheme.begin(), scheme.end(),
                                    [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; });
    return is_one ? scheme : std::string_view{};
}

/// The name of a file that a transport reads and writes.
constexpr std::string_view scheme_of_tables = "parquet";
bool is_table_file(std::string_view name) noexcept {
    return name.ends_with(".parquet") || name.ends_with(".arrow") || name.ends_with(".feather");
}

/// That of an address, or of the name of a file that is one.
std::string_view scheme_of_name(std::string_view name) noexcept {
    const std::string_view scheme = scheme_of(name);
    return scheme.empty() && is_table_file(name) ? scheme_of_tables : scheme;
}

/// As the place of an address.
std::string encoded(std::string_view path) {
    std::string text;
    for (const char c : path) {
        if (c == '%') {
            text += "%25";
        } else {
            text += c;
        }
    }
    return text;
}

std::optional<Transport> transport_of(std::string_view scheme) {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    const auto found = std::find_if(all.transports.begin(), all.transports.end(),
                                    [scheme](const auto& one) { return one.scheme == scheme; });
    if (found == all.transports.end()) return std::nullopt;
    return *found;
}

const KnownTransport* known_transport(std::string_view scheme) noexcept {
    const auto* const found =
        std::find_if(known_transports.begin(), known_transports.end(),
                     [scheme](const auto& one) { return one.scheme == scheme; });
    return found == known_transports.end() ? nullptr : found;
}

/// Throws GraphError where there is none.
Transport served(const TransportAddress& address) {
    if (auto found = transport_of(address.scheme())) return std::move(*found);
    const KnownTransport* const known = known_transport(address.scheme());
    if (known == nullptr) address.refuse("no transport of this scheme was added");
    address.refuse(fmt::format(
        "this program has no connector for it: it is built with the package {} and {}=ON, and a "
        "program of your own links strid::{} and includes <strid/{}/{}.hpp>",
        known->package, known->option, known->library, known->library, known->library));
}

int hexadecimal(char c) noexcept {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

std::string decoded(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '%' && i + 2 < text.size()) {
            const int high = hexadecimal(text[i + 1]);
            const int low = hexadecimal(text[i + 2]);
            if (high >= 0 && low >= 0) {
                out += static_cast<char>(high * 16 + low);
                i += 2;
                continue;
            }
        }
        out += text[i];
    }
    return out;
}

/// The address with three stars in the place of its password; empty: there is none in it.
std::string without_password(const std::string& address) {
    const std::size_t begin = address.find("//");
    const std::size_t end = address.find_first_of("/?", begin + 2);
    const std::size_t at = address.substr(0, end).rfind('@');
    if (begin != std::string::npos && at != std::string::npos && at > begin) {
        const std::size_t colon = address.find(':', begin);
        if (colon < at) return address.substr(0, colon + 1) + "***" + address.substr(at);
    }
    constexpr std::string_view option = "password=";
    const std::size_t found = address.find(option, std::min(address.find('?'), address.size()));
    if (found == std::string::npos) return {};
    return address.substr(0, found + option.size()) + "***";
}

/// The part of `text` before the first `separator`, which is taken out with it.
std::string_view cut_front(std::string_view& text, char separator) noexcept {
    const std::size_t end = std::min(text.find(separator), text.size());
    const std::string_view front = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return front;
}

/// Whether what serves the address has this property.
bool is_of_transport(std::string_view address, bool Transport::*property) noexcept {
    const std::string_view scheme = scheme_of_name(address);
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    return std::any_of(all.transports.begin(), all.transports.end(),
                       [&](const Transport& one) { return one.scheme == scheme && one.*property; });
}

}  // namespace

TransportAddress::TransportAddress(std::string text) : text_(std::move(text)) {
    scheme_ = scheme_of_name(text_);
    if (scheme_of(text_).empty() && !scheme_.empty()) {
        place_ = encoded(text_);
        return;
    }
    if (scheme_.empty()) throw GraphError(text_ + ": is no address of a transport");
    if (const std::string shown = without_password(text_); !shown.empty()) {
        throw GraphError(shown +
                         ": an address holds no password: a file of passwords does, as ~/.pgpass, "
                         "or the environment, as PGPASSWORD");
    }
    std::string_view rest = std::string_view(text_).substr(scheme_.size() + 1);
    place_ = cut_front(rest, '?');
    while (!rest.empty()) {
        std::string_view value = cut_front(rest, '&');
        const std::string name = decoded(cut_front(value, '='));
        if (name.empty()) refuse("an option has no name: ?NAME=VALUE&NAME=VALUE");
        const bool is_there = std::any_of(options_.begin(), options_.end(),
                                          [&](const auto& one) { return one.first == name; });
        if (is_there) refuse(fmt::format("the option '{}' is given twice", name));
        options_.emplace_back(name, decoded(value));
    }
}

std::string TransportAddress::decoded_place() const {
    return decoded(place_);
}

std::string TransportAddress::take(std::string_view option) {
    const auto found = std::find_if(options_.begin(), options_.end(),
                                    [option](const auto& one) { return one.first == option; });
    if (found == options_.end()) return {};
    std::string value = std::move(found->second);
    options_.erase(found);
    return value;
}

std::vector<std::string> TransportAddress::take_list(std::string_view option) {
    const std::string text = take(option);
    std::string_view rest = text;
    std::vector<std::string> list;
    while (!rest.empty()) list.emplace_back(cut_front(rest, ','));
    return list;
}

void TransportAddress::expect_no_more(std::string_view known) const {
    if (options_.empty()) return;
    refuse(fmt::format("there is no option '{}': {}", options_.front().first, known));
}

void TransportAddress::refuse(const std::string& reason) const {
    throw GraphError(text_ + ": " + reason);
}

void add_transport(Transport transport) {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    std::erase_if(all.transports, [&](const auto& one) { return one.scheme == transport.scheme; });
    all.transports.push_back(std::move(transport));
}

bool is_transport_address(std::string_view name) noexcept {
    const std::string_view scheme = scheme_of_name(name);
    if (scheme.empty() || detail::is_socket_address(name)) return false;
    if (known_transport(scheme) != nullptr) return true;
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    return std::any_of(all.transports.begin(), all.transports.end(),
                       [scheme](const auto& one) { return one.scheme == scheme; });
}

bool transport_goes_away(std::string_view address) noexcept {
    return is_of_transport(address, &Transport::goes_away);
}

bool transport_is_table(std::string_view address) noexcept {
    return is_of_transport(address, &Transport::is_table);
}

void check_transport_address(const std::string& address) {
    (void)served(TransportAddress(address));
}

std::unique_ptr<TransportInput> open_transport_input(const std::string& address) {
    TransportAddress parts(address);
    const Transport transport = served(parts);
    if (!transport.input) parts.refuse("nothing can be read there");
    return transport.input(std::move(parts));
}

std::unique_ptr<TransportOutput> make_transport_output(const std::string& address) {
    TransportAddress parts(address);
    const Transport transport = served(parts);
    if (!transport.output) parts.refuse("nothing can be written there");
    return transport.output(std::move(parts));
}

std::unique_ptr<TransportTable> make_transport_table(const std::string& address, TableQuery query) {
    TransportAddress parts(address);
    const Transport transport = served(parts);
    if (!transport.table) parts.refuse("rows cannot be asked for there one by one");
    return transport.table(std::move(parts), std::move(query));
}

RunScope* run_of_input() noexcept {
    return detail::RunOfInput::current();
}

std::string transport_result(const std::string& address) {
    TransportAddress parts(address);
    if (!served(parts).options_may_change) return address;
    const std::string name = parts.scheme() + ":" + parts.place();
    const std::string sink = parts.take("sink");
    return sink.empty() ? name : name + "?sink=" + sink;
}

std::vector<std::string> names_in_row(std::string_view row) {
    std::vector<std::string> names;
    detail::RowsOfText{}.for_each(row, "the names of columns",
                                  [&names](std::string_view, std::vector<CsvField>& fields) {
                                      for (CsvField& field : fields)
                                          names.emplace_back(unescape_csv(field));
                                  });
    return names;
}

}  // namespace strid
