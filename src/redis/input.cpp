// SPDX-License-Identifier: Apache-2.0
#include "input.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <strid/base/clock.hpp>
#include <strid/base/error.hpp>

namespace strid::redis {

namespace {

constexpr std::int64_t retry_ns = 500'000'000;
/// Entries are taken ahead of what is read up to so many bytes, and asked for up to as many.
constexpr std::size_t text_bytes = std::size_t{1} << 20;
constexpr std::size_t count_first = 16;
constexpr std::size_t count_most = 1'000;
/// The server answers a request that brings nothing after so long.
constexpr const char* request_ms = "5000";
constexpr std::int64_t answer_ns = 8'000'000'000;
constexpr std::int64_t answer_silence_ns = 2'000'000'000;
constexpr int wait_most_ms = 1'000;
constexpr char within_entry = '>';

}  // namespace

StreamInput::Part::Part(TransportAddress& address)
    : fields(address, {"id", "time"}), text(address) {
    const std::string start = address.take("start");
    latest = start == "latest";
    EntryId id;
    if (start.starts_with('@')) {
        if (!read_number(std::string_view(start).substr(1), id.ms)) {
            address.refuse("start: a time is @ and milliseconds since 1970");
        }
        behind = id.before();
    } else if (!start.empty() && start != "earliest" && !latest) {
        const std::optional<EntryId> first = read_entry_id(start);
        if (!first) {
            address.refuse(
                "start is earliest, latest, @ and milliseconds since 1970, or the id of an entry");
        }
        behind = first->before();
    }
    until_end = detail::take_until_end(address);
}

StreamInput::StreamInput(TransportAddress address)
    : part_(address), place_(address), client_(place_), count_(count_first) {
    client_.open();
    begin();
}

void StreamInput::begin() {
    const StreamState stream = ask_for_state();
    if (part_.until_end && !stream.exists) {
        throw InputOutputError(
            fmt::format("{}: there is no stream '{}'", place_.address, place_.stream));
    }
    next_ = start_behind(part_.latest ? stream.last : part_.behind, stream);
    end_ = stream.last;
    if (!stream.exists) note_that_none_is_there();
}

void StreamInput::note_that_none_is_there() {
    lost_ = fmt::format("{}: there is no stream '{}' yet", place_.address, place_.stream);
}

StreamState StreamInput::ask_for_state() {
    client_.add({"XINFO", "STREAM", place_.stream});
    for (;;) {
        if (const Reply reply = client_.next(wait_most_ms)) return stream_state(client_, *reply);
        if (now_ns() - client_.moved_at_ns() > answer_silence_ns) client_.fail_of_silence();
    }
}

void StreamInput::go_on_at(std::string_view position) {
    const bool is_within = position.starts_with(within_entry);
    auto place = read_stream_place(position.substr(is_within ? 1 : 0));
    if (!place) {
        throw InputOutputError(place_.address + ": the snapshot has no position of a stream");
    }
    within_.reset();
    if (is_within) {
        within_ = place->behind;
        place->behind = within_->before();
    }
    next_ = *place;
    check_is_there(ask_for_state());
}

void StreamInput::fail_of_entries(const std::string& reason) const {
    throw InputOutputError(fmt::format("{}: {}; --restart begins anew", place_.address, reason));
}

/// The entries behind the place. Of a stream that was not there yet all come.
void StreamInput::check_is_there(const StreamState& stream) const {
    const std::string id = (within_ ? *within_ : next_.behind).text();
    if (!stream.exists) {
        if (next_.is_start && !within_) return;
        fail_of_entries(fmt::format("the run goes on behind entry {}, and the stream is gone", id));
    }
    if (!next_.is_start && stream.last < next_.behind) {
        fail_of_entries(
            fmt::format("the run has read entry {}, and the last one of the stream is {} now: the "
                        "server has lost entries, or the stream was made anew",
                        id, stream.last.text()));
    }
    const std::optional<std::uint64_t> gone = entries_gone(next_, stream);
    if (!gone) {
        fail_of_entries(
            fmt::format("the run goes on behind entry {}, and the first one of the stream is {} "
                        "now: entries between may be gone, or the stream was made anew",
                        id, stream.first.text()));
    }
    if (*gone != 0) {
        fail_of_entries(
            fmt::format("the run goes on behind entry {}, and the first one of the stream is {} "
                        "now: {} entries between are gone",
                        id, stream.first.text(), *gone));
    }
}

void StreamInput::connect_again() {
    entries_.reset();
    client_.open();
    check_is_there(ask_for_state());
}

void StreamInput::request() {
    const std::string count = std::to_string(count_);
    const std::string behind = next_.behind.text();
    if (part_.until_end) {
        client_.add({"XREAD", "COUNT", count, "STREAMS", place_.stream, behind});
    } else {
        client_.add(
            {"XREAD", "COUNT", count, "BLOCK", request_ms, "STREAMS", place_.stream, behind});
    }
    client_.add({"XINFO", "STREAM", place_.stream});
    until_ns_ = now_ns() + answer_ns;
    client_.send_down_to(0);
}

EntryId StreamInput::id_of(const ::redisReply& entry) const {
    const std::optional<EntryId> id =
        entry.elements == 2 ? read_entry_id(text_of(*entry.element[0])) : std::nullopt;
    if (!id) throw InputOutputError(place_.address + ": the server has sent no entry of a stream");
    return *id;
}

/// Entries that were cut off between the last answer and this one were never read.
void StreamInput::check_none_was_missed(const ::redisReply* entries, const StreamState& stream) {
    const std::size_t taken = entries == nullptr ? 0 : entries->elements;
    std::uint64_t taken_and_gone = 0;
    for (std::size_t i = 0; i != taken; ++i) {
        const bool is_there = stream.entries != 0 && id_of(*entries->element[i]) >= stream.first;
        if (is_there) break;
        ++taken_and_gone;
    }
    const bool was_deleted = stream.deleted > next_.behind;
    if (was_deleted) {  // by XDEL, on purpose: it is not known how many
        next_.added.reset();
    } else if (next_.added) {
        const std::optional<std::uint64_t> gone = entries_gone(next_, stream);
        if (!gone) fail_of_entries("the stream was made anew while the run has read it");
        if (*gone > taken_and_gone) {
            fail_of_entries(
                fmt::format("{} entries behind {} were cut off the stream before they were read",
                            *gone - taken_and_gone, next_.behind.text()));
        }
    }
}

/// All that was added up to the description of the stream was taken.
void StreamInput::note_end(const StreamState& stream) {
    const bool is_all_taken = stream.entries == 0 || stream.end <= next_.behind;
    if (is_all_taken && stream.last > next_.behind) {
        next_ = {.behind = stream.last, .added = stream.added, .is_start = false};
    } else if (next_.behind >= stream.last) {
        next_.added = stream.added;
    }
}

void StreamInput::take_answer(const ::redisReply& entries, const StreamState& stream) {
    const ::redisReply* found = nullptr;
    if (entries.type == REDIS_REPLY_ARRAY && entries.elements == 1 &&
        entries.element[0]->elements == 2) {
        found = entries.element[0]->element[1];
    }
    if (!stream.exists) {
        if (!next_.is_start) check_is_there(stream);
        note_that_none_is_there();
        return;
    }
    lost_.clear();
    check_none_was_missed(found, stream);
    const std::size_t taken = found == nullptr ? 0 : found->elements;
    for (std::size_t i = 0; i != taken && !is_at_end_; ++i) take(*found->element[i]);
    if (within_ && taken == 0 && stream.last >= *within_) {
        fail_of_entries(
            fmt::format("entry {}, of which the run has taken a part, is gone", within_->text()));
    }
    note_end(stream);
    if (part_.until_end && (taken == 0 || next_.behind >= end_)) is_at_end_ = true;
    if (found != nullptr) set_count(*found);
}

/// About as many entries as text is taken ahead are asked for, were the next ones as long as the
/// longest of the last: one long one among many short ones says that more may come. The number
/// grows by steps, and shrinks at once.
void StreamInput::set_count(const ::redisReply& entries) {
    std::size_t longest = 1;
    for (std::size_t i = 0; i != entries.elements; ++i) {
        if (entries.element[i]->elements != 2) continue;
        std::size_t bytes = 0;
        const ::redisReply& fields = *entries.element[i]->element[1];
        for (std::size_t j = 0; j != fields.elements; ++j) bytes += fields.element[j]->len;
        longest = std::max(longest, bytes);
    }
    const std::size_t fitting = std::clamp<std::size_t>(text_bytes / longest, 1, count_most);
    const bool was_full = entries.elements == count_;
    count_ = std::min(fitting, was_full ? count_ * 2 : count_);
}

void StreamInput::take(const ::redisReply& entry) {
    const EntryId id = id_of(entry);
    if (part_.until_end && id > end_) {
        is_at_end_ = true;
        return;
    }
    if (within_ && id != *std::exchange(within_, std::nullopt)) {
        fail_of_entries("an entry of which the run has taken a part is gone");
    }
    const StreamPlace before = next_;
    next_ = {.behind = id, .added = std::nullopt, .is_start = false};
    if (before.added) next_.added = *before.added + 1;
    const std::string_view text = part_.text.of(*entry.element[1]);
    if (text.empty()) return;
    append_row(text, id);
    rows_.end_row({id, before});
}

/// With the fields about it that are asked for.
void StreamInput::append_row(std::string_view text, EntryId id) {
    const auto& names = part_.fields.names();
    std::vector<detail::MessageFields::Value> values(names.size());
    const std::string whole = names.empty() ? std::string{} : id.text();
    for (std::size_t i = 0; i != names.size(); ++i) {
        const bool is_time = names[i] == "time";
        const std::string_view shown = whole;
        values[i] = {is_time ? shown.substr(0, shown.find('-')) : shown, is_time};
    }
    part_.fields.append(rows_.text(), text, values);
}

void StreamInput::take_all(int wait_ms) {
    if (client_.unanswered() == 0) request();
    while (rows_.text().size() < text_bytes && !is_at_end_) {
        Reply reply = client_.next(rows_.text().empty() ? wait_ms : 0);
        if (reply == nullptr) break;
        if (entries_ == nullptr) {
            client_.check(*reply);
            entries_ = std::move(reply);
            continue;
        }
        const Reply entries = std::exchange(entries_, nullptr);
        take_answer(*entries, stream_state(client_, *reply));
        if (!is_at_end_) request();  // its answer comes while the text is read
    }
    const bool is_silent =
        now_ns() > std::max(until_ns_, client_.moved_at_ns() + answer_silence_ns);
    if (rows_.text().empty() && !is_at_end_ && is_silent) client_.fail_of_silence();
}

void StreamInput::fetch(int wait_ms) {
    const int wait = wait_ms < 0 ? wait_most_ms : std::min(wait_ms, wait_most_ms);
    if (!client_.is_open() && now_ns() < retry_at_ns_) {
        std::this_thread::sleep_for(std::chrono::milliseconds(wait));
        return;
    }
    try {
        if (!client_.is_open()) {
            connect_again();
            lost_.clear();
        }
        take_all(wait);
    } catch (const ConnectionLost& error) {
        lost_ = error.what();
        retry_at_ns_ = now_ns() + retry_ns;
        entries_.reset();
        client_.close();
    }
}

ByteReader::Result StreamInput::read(std::span<char> out, int wait_ms) {
    return rows_.read(out, [this, wait_ms] {
        if (part_.until_end && next_.behind >= end_) is_at_end_ = true;
        if (!is_at_end_) fetch(wait_ms);
        return !is_at_end_;
    });
}

void StreamInput::passed(std::uint64_t bytes) {
    rows_.pass(bytes, [](const At& /*entry*/) {});
}

TransportInput::Position StreamInput::position(std::uint64_t bytes) {
    passed(bytes);
    // The entry that the place is in has not come again.
    if (within_) {
        StreamPlace place = next_;
        place.behind = *within_;
        return {.text = within_entry + text_of_place(place), .bytes = 0};
    }
    if (const auto* const row = rows_.begun_within(bytes)) {
        StreamPlace place = row->place.before;
        place.behind = row->place.id;
        return {.text = within_entry + text_of_place(place), .bytes = row->begin};
    }
    const StreamPlace& place = rows_.rows().empty() ? next_ : rows_.rows().front().place.before;
    return {.text = text_of_place(place), .bytes = bytes};
}

}  // namespace strid::redis
