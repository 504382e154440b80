// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/engine/connector/address_options.hpp>
#include <strid/engine/connector/random_name.hpp>

namespace strid::redis {

namespace {

/// Commands are sent when so many bytes wait.
constexpr std::size_t send_bytes = std::size_t{256} << 10;
constexpr int attempts_most = 10;
constexpr std::uint64_t entries_most = 1'000'000'000'000;
/// How long the server keeps the number of a run without snapshots.
constexpr const char* key_lives_s = "86400";

bool has_option(const TransportAddress& address, std::string_view name) {
    return std::any_of(address.left().begin(), address.left().end(),
                       [name](const auto& option) { return option.first == name; });
}

/// A key of the same slot as that of the stream, where the server is of a cluster.
std::string key_of(const std::string& stream, std::string_view of_rows) {
    const std::size_t open = stream.find('{');
    const std::size_t close = stream.find('}', open == std::string::npos ? 0 : open);
    const bool has_tag = open != std::string::npos && close != std::string::npos;
    return fmt::format("strid:{}{}{}:epoch:{}", has_tag ? "" : "{", stream, has_tag ? "" : "}",
                       of_rows);
}

}  // namespace

StreamOutput::Part::Part(TransportAddress& address)
    : field(address.take("field")),
      entries_max(detail::take_count(address, "maxlen", 0, entries_most)) {
    (void)address.take("sink");
    if (!field.empty() && !has_option(address, "key")) messages.emplace(address);
    if (field.empty() && has_option(address, "format")) {
        address.refuse("format is of the text in one field: field=NAME");
    }
}

StreamOutput::StreamOutput(TransportAddress address)
    : part_(address), place_(address), client_(place_), name_(detail::random_name()) {
    begin_stream(detail::random_name());
}

void StreamOutput::begin_stream(std::string_view stream) {
    stream_ = stream;
    key_ = key_of(place_.stream, stream);
    is_owner_ = is_unsure_ = false;
    last_ = 0;
}

void StreamOutput::open(const std::vector<std::string>& columns) {
    close();
    columns_ = columns;
    if (part_.messages) part_.messages->set_columns(columns);
    client_.open();
    if (client_.is_replica()) {
        throw ConnectionLost(place_.address + ": the server is a replica, which takes no rows");
    }
    const Reply type = client_.ask({"TYPE", place_.stream});
    if (text_of(*type) != "stream" && text_of(*type) != "none") {
        throw InputOutputError(
            fmt::format("{}: the key '{}' is no stream", place_.address, place_.stream));
    }
}

void StreamOutput::close() noexcept {
    is_begun_ = has_come_ = false;
    client_.close();
}

void StreamOutput::fail_of_fence(const Mark& found) const {
    if (found.owner.empty() || found.owner == name_) {
        throw InputOutputError(fmt::format(
            "{}: the server has forgotten epoch {} of this stream, and maybe its rows: it has lost "
            "what it had not written to its disk (appendfsync)",
            place_.address, last_));
    }
    throw InputOutputError(place_.address + ": another process writes this stream");
}

StreamOutput::Mark StreamOutput::read_mark(const ::redisReply& reply) const {
    Mark found;
    if (reply.type == REDIS_REPLY_NIL) return found;
    const std::string_view text = text_of(reply);
    const std::size_t blank = std::min(text.find(' '), text.size());
    if (!read_number(text.substr(0, blank), found.number)) {
        throw InputOutputError(
            fmt::format("{}: the key '{}' has no number of an epoch", place_.address, key_));
    }
    found.owner = text.substr(std::min(blank + 1, text.size()));
    return found;
}

StreamOutput::Mark StreamOutput::mark() {
    return read_mark(*client_.ask({"GET", key_}));
}

/// A transaction from here on is made only if the key does not change before it ends.
StreamOutput::Mark StreamOutput::watched_mark() {
    client_.add({"WATCH", key_});
    client_.add({"GET", key_});
    client_.send_down_to(0);
    (void)client_.answer();
    return read_mark(*client_.answer());
}

std::uint64_t StreamOutput::last_epoch(std::string_view stream) {
    if (stream_ != stream) begin_stream(stream);
    by_epoch_ = true;
    if (is_owner_) {
        const Mark found = mark();
        if (found.owner != name_ || found.number < last_) fail_of_fence(found);
        last_ = found.number;
        return last_;
    }
    for (int i = 0; i != attempts_most; ++i) {
        const Mark found = watched_mark();
        (void)client_.ask({"MULTI"});
        (void)client_.ask({"SET", key_, fmt::format("{} {}", found.number, name_)});
        const Reply done = client_.ask({"EXEC"});
        if (done->type == REDIS_REPLY_NIL) continue;
        is_owner_ = true;
        last_ = found.number;
        return last_;
    }
    throw ConnectionLost(place_.address + ": other processes write this stream");
}

void StreamOutput::begin_transaction() {
    const Mark found = watched_mark();
    is_begun_ = true;
    if (is_unsure_ && found.owner == name_ && found.number > last_) {
        last_ = found.number;
        has_come_ = true;
        return;
    }
    // The server forgets the number of a run without snapshots where no rows come for long.
    const bool may_be_gone = !by_epoch_ && !is_unsure_ && found == Mark{};
    const Mark expected{last_, last_ == 0 && !by_epoch_ ? std::string{} : name_};
    if (found != expected && !may_be_gone) fail_of_fence(found);
    client_.add({"MULTI"});
}

/// Its rows, with its number. False: the key has changed, and nothing was added.
bool StreamOutput::end_transaction(std::uint64_t number) {
    is_begun_ = false;
    if (std::exchange(has_come_, false)) {
        is_unsure_ = false;
        return number == last_;
    }
    is_unsure_ = true;
    const std::string text = fmt::format("{} {}", number, name_);
    if (by_epoch_) {
        client_.add({"SET", key_, text});
    } else {
        client_.add({"SET", key_, text, "EX", key_lives_s});
    }
    client_.add({"EXEC"});
    client_.send_down_to(0);
    while (client_.unanswered() > 1) (void)client_.answer();
    const Reply results = client_.answer();
    if (results->type == REDIS_REPLY_NIL) return false;
    note_ended(*results, number);
    return true;
}

/// Redis takes back nothing where a command of a transaction fails, and the number is set back. The
/// stream was checked before, so that a key of another type has come in between: no row is there.
/// Where the server refuses one row, by its size, the others are there, and come once more with the
/// next start.
void StreamOutput::note_ended(const ::redisReply& results, std::uint64_t number) {
    for (std::size_t i = 0; i != results.elements; ++i) {
        const ::redisReply& one = *results.element[i];
        if (one.type != REDIS_REPLY_ERROR) continue;
        (void)client_.ask({"SET", key_, fmt::format("{} {}", last_, name_)});
        client_.check(one);
    }
    last_ = number;
    is_unsure_ = false;
}

void StreamOutput::begin_entry(std::size_t fields) {
    const bool has_bound = part_.entries_max != 0;
    client_.begin(3 + (has_bound ? 3 : 0) + 2 * fields);
    client_.word("XADD");
    client_.word(place_.stream);
    if (has_bound) {
        client_.word("MAXLEN");
        client_.word("~");
        client_.word(std::to_string(part_.entries_max));
    }
    client_.word("*");
}

/// A field without a value is left out; an entry has one field at least.
void StreamOutput::send_fields(std::vector<CsvField>& fields) {
    if (fields.size() != columns_.size()) {
        throw InputOutputError(fmt::format("{}: a row has {} fields, and there are {} columns",
                                           place_.address, fields.size(), columns_.size()));
    }
    std::vector<std::string_view> values(fields.size());
    std::vector<bool> has_value(fields.size());
    std::size_t count = 0;
    for (std::size_t i = 0; i != fields.size(); ++i) {
        const bool is_quoted = fields[i].quoted;
        values[i] = unescape_csv(fields[i]);
        has_value[i] = is_quoted || !values[i].empty();
        count += has_value[i] ? 1 : 0;
    }
    if (count == 0) has_value[0] = true;
    begin_entry(std::max<std::size_t>(count, 1));
    for (std::size_t i = 0; i != fields.size(); ++i) {
        if (!has_value[i]) continue;
        client_.word(columns_[i]);
        client_.word(values[i]);
    }
}

void StreamOutput::send_rows(std::string_view rows) {
    if (part_.messages) {
        part_.messages->for_each(rows, [this](const detail::MessageRows::Message& message) {
            begin_entry(1);
            client_.word(part_.field);
            client_.word(message.payload);
            take_replies();
        });
        return;
    }
    if (columns_.empty()) {
        throw GraphError(place_.address +
                         ": fields of entries need the names of the columns, or field=NAME");
    }
    rows_.for_each(rows, place_.address,
                   [this](std::string_view /*row*/, std::vector<CsvField>& fields) {
                       send_fields(fields);
                       take_replies();
                   });
}

/// Each says that a command is in the transaction, or that the server refuses it.
void StreamOutput::take_replies() {
    if (client_.waiting_bytes() < send_bytes) return;
    client_.send_down_to(0);
    while (client_.unanswered() != 0) {
        const Reply reply = client_.next(0);
        if (reply == nullptr) return;
        client_.check(*reply);
    }
}

/// A run without snapshots gives the rows once more, behind open(), where the connection was lost.
void StreamOutput::write(std::string_view rows) {
    if (rows.empty()) return;
    if (!is_begun_) begin_transaction();
    if (!has_come_) send_rows(rows);
    if (by_epoch_) return;
    const std::uint64_t number = has_come_ ? last_ : last_ + 1;
    if (end_transaction(number)) return;
    throw ConnectionLost(place_.address + ": the number of the rows has changed meanwhile");
}

void StreamOutput::commit(const Epoch& epoch) {
    if (!by_epoch_) return;
    if (!is_begun_) begin_transaction();
    if (end_transaction(epoch.number)) return;
    const Mark found = mark();
    // By a connection that was lost, and whose transaction the server had.
    if (found != Mark{epoch.number, name_}) fail_of_fence(found);
    last_ = epoch.number;
    is_unsure_ = false;
}

}  // namespace strid::redis
