// SPDX-License-Identifier: Apache-2.0
#include "input.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <strid/base/clock.hpp>
#include <strid/base/error.hpp>

#include "subject.hpp"

namespace strid::nats {

namespace {

constexpr std::int64_t ms_in_second = 1'000;
constexpr std::int64_t retry_ns = 500'000'000;
/// Messages are taken ahead of what is read up to so many bytes, and asked for up to as many.
constexpr std::size_t text_bytes = std::size_t{1} << 20;
constexpr int batch_first = 16;
constexpr int batch_most = 1'000;
constexpr std::int64_t request_ns = 5'000'000'000;
/// The server answers a request that brings nothing by then.
constexpr std::int64_t answer_ns = request_ns + 3'000'000'000;
constexpr std::int64_t consumer_lives_ns = 30'000'000'000;
constexpr int wait_most_ms = 1'000;
constexpr char within_message = '>';

}  // namespace

StreamInput::Part::Part(TransportAddress& address)
    : fields(address, {"subject", "time", "sequence"}, true) {
    const std::string text = address.take("start");
    latest = text == "latest";
    std::int64_t ms = 0;
    if (text.starts_with('@') && read_number(std::string_view(text).substr(1), ms) && ms >= 0) {
        since_ms = ms;
    } else if (!text.empty() && text != "earliest" && !latest &&
               (!read_number(text, start) || start == 0)) {
        address.refuse(
            "start is earliest, latest, @ and milliseconds since 1970, or the number of a message");
    }
    until_end = detail::take_until_end(address);
}

StreamInput::StreamInput(TransportAddress address)
    : part_(address), place_(address), client_(place_), batch_(batch_first) {
    begin(client_.open());
}

void StreamInput::begin(const StreamState& stream) {
    if (!stream.keeps_messages) {
        throw InputOutputError(fmt::format(
            "{}: the stream '{}' drops messages that a consumer has had: Strid reads streams "
            "whose retention is by limits",
            place_.address, place_.stream));
    }
    if (part_.start > stream.last + 1) {
        throw InputOutputError(fmt::format("{}: the stream '{}' has messages up to {}",
                                           place_.address, place_.stream, stream.last));
    }
    note_subjects(stream);
    created_ns_ = stream.created_ns;
    since_ms_ = part_.since_ms;
    next_ = part_.latest ? stream.last + 1 : std::max(part_.start, stream.first);
    if (part_.until_end) end_ = stream.last;
}

std::string StreamInput::text_of_place(std::uint64_t number) const {
    if (since_ms_) return fmt::format("@{} {}", *since_ms_, created_ns_);
    return fmt::format("{} {}", number, created_ns_);
}

void StreamInput::go_on_at(std::string_view position) {
    is_within_ = position.starts_with(within_message);
    std::string_view number = position.substr(is_within_ ? 1 : 0);
    const std::size_t blank = std::min(number.find(' '), number.size());
    const std::string_view made = number.substr(std::min(blank + 1, number.size()));
    number = number.substr(0, blank);
    std::int64_t created_ns = 0;
    std::int64_t ms = 0;
    const bool is_time = number.starts_with('@') && read_number(number.substr(1), ms);
    if (!read_number(made, created_ns) || (!is_time && !read_number(number, next_))) {
        throw InputOutputError(place_.address + ": the snapshot has no position of a stream");
    }
    since_ms_ = is_time ? std::optional(ms) : std::nullopt;
    created_ns_ = created_ns;
    check_is_there(client_.stream());
}

/// The messages from the next one on. Some of them may have been of other subjects: it cannot be
/// known.
void StreamInput::check_is_there(const StreamState& stream) const {
    if (stream.created_ns != created_ns_) {
        throw InputOutputError(
            fmt::format("{}: the stream '{}' was made anew since the run has read it: its messages "
                        "are gone; --restart begins anew",
                        place_.address, place_.stream));
    }
    if (since_ms_ || (next_ >= stream.first && next_ <= stream.last + 1)) return;
    throw InputOutputError(fmt::format(
        "{}: the run goes on at message {} of the stream '{}', which has {} to {} now: the "
        "messages between are gone; --restart begins anew",
        place_.address, next_, place_.stream, stream.first, stream.last));
}

void StreamInput::fail_of_part() const {
    throw InputOutputError(
        fmt::format("{}: message {} of the stream '{}', of which the run has taken a part, is "
                    "gone; --restart begins anew",
                    place_.address, next_, place_.stream));
}

void StreamInput::connect_again() {
    has_consumer_ = false;
    const StreamState stream = client_.open();
    check_is_there(stream);
    note_subjects(stream);
}

/// A server looks slowly for the next message of a filter: none is given where all match.
void StreamInput::note_subjects(const StreamState& stream) {
    const auto is_read = [this](const std::string& subject) {
        return covers(place_.subject, subject);
    };
    reads_all_ = !stream.subjects.empty() &&
                 std::all_of(stream.subjects.begin(), stream.subjects.end(), is_read);
}

std::uint64_t StreamInput::make_consumer() {
    client_.drop(inbox_);
    request_ = {};
    of_consumer_ = 0;
    ::jsConsumerConfig config{};
    ::jsConsumerConfig_Init(&config);
    config.AckPolicy = js_AckNone;
    config.ReplayPolicy = js_ReplayInstant;
    if (!reads_all_) config.FilterSubject = place_.subject.c_str();
    config.InactiveThreshold = consumer_lives_ns;
    config.MemoryStorage = true;
    if (since_ms_) {
        config.DeliverPolicy = js_DeliverByStartTime;
        // Whole seconds, and take() passes over what is before: libnats 3.4 writes a fraction
        // without the zeros that it begins with.
        config.OptStartTime = *since_ms_ / ms_in_second * ms_in_second * ns_in_ms;
    } else {
        config.DeliverPolicy = js_DeliverByStartSequence;
        config.OptStartSeq = next_;
    }
    inbox_ = client_.make_inbox(false);
    const std::uint64_t pending = client_.make_consumer(config);
    has_consumer_ = true;
    return pending;
}

/// Nothing has come: the place moves behind messages of other subjects, so that it is not gone when
/// they are. The server counts for a new consumer only.
void StreamInput::look_behind() {
    if (!std::exchange(is_quiet_, false)) return;
    const std::uint64_t last = client_.stream().last;
    if (!since_ms_ && last < next_) return;
    if (make_consumer() != 0) return;
    if (is_within_) fail_of_part();
    since_ms_.reset();
    next_ = last + 1;
    is_at_end_ = part_.until_end;
}

void StreamInput::ask() {
    look_behind();
    if (is_at_end_) return;
    if (!has_consumer_) (void)make_consumer();
    request_ = {.asked = batch_, .until_ns = now_ns() + answer_ns};
    batch_bytes_ = 0;
    const std::string waits =
        part_.until_end ? R"("no_wait":true)" : fmt::format(R"("expires":{})", request_ns);
    client_.request(inbox_, fmt::format(R"({{"batch":{},{}}})", batch_, waits));
}

/// About as many messages as text is read ahead are asked for.
void StreamInput::end_of_request() {
    if (request_.come == request_.asked) {
        const bool is_full = batch_bytes_ > text_bytes / 2;
        batch_ = is_full ? std::max(batch_ / 2, 1) : std::min(batch_ * 2, batch_most);
    }
    request_.asked = 0;
}

std::optional<StreamInput::About> StreamInput::about(const Message& message) {
    // $JS.ACK.[DOMAIN.ACCOUNT.]STREAM.CONSUMER.TIMES.NUMBER.OF_CONSUMER.TIME_NS.PENDING[.RANDOM]
    const char* const reply = ::natsMsg_GetReply(message.get());
    std::string_view rest = reply == nullptr ? std::string_view{} : std::string_view(reply);
    if (!rest.starts_with("$JS.ACK.")) return std::nullopt;
    std::array<std::string_view, 12> tokens;
    std::size_t count = 0;
    while (!rest.empty() && count != tokens.size()) {
        const std::size_t end = std::min(rest.find('.'), rest.size());
        tokens[count++] = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    const std::size_t number = count < 11 ? 5 : 7;
    About found;
    if (count < 9 || !read_number(tokens[number], found.number) ||
        !read_number(tokens[number + 1], found.number_of_consumer) ||
        !read_number(tokens[number + 2], found.time_ns)) {
        return std::nullopt;
    }
    return found;
}

void StreamInput::take_status(const Message& message) {
    const char* const text = header_of(message, "Status");
    const std::string_view status = text == nullptr ? "" : text;
    if (status == "100") return;
    if (status != "404" && status != "408") {  // the consumer, or its server, ends
        has_consumer_ = false;
        request_ = {};
        return;
    }
    is_quiet_ = request_.come == 0;
    end_of_request();
}

void StreamInput::take(const Message& message) {
    const auto found = about(message);
    if (!found) return take_status(message);
    if (found->number_of_consumer != of_consumer_ + 1) {  // one was lost on its way
        has_consumer_ = false;
        return;
    }
    ++of_consumer_;
    ++request_.come;
    if (end_ != 0 && found->number > end_) {
        is_at_end_ = true;
        return;
    }
    if (since_ms_ && found->time_ns < *since_ms_ * ns_in_ms) {
        is_at_end_ = end_ != 0 && found->number == end_;
        if (request_.come == request_.asked) end_of_request();
        return;
    }
    if (std::exchange(is_within_, false) && found->number != next_) fail_of_part();
    next_ = found->number + 1;
    since_ms_.reset();
    is_at_end_ = end_ != 0 && next_ > end_;
    const std::size_t before = rows_.text().size();
    // The stream may have been given other subjects since.
    const bool is_read = !reads_all_ || covers(place_.subject, ::natsMsg_GetSubject(message.get()));
    if (is_read && !text_of(message).empty()) {
        append_row(message, *found);
        rows_.end_row(found->number);
    }
    batch_bytes_ += rows_.text().size() - before;
    if (request_.come == request_.asked) end_of_request();
}

/// With the fields about it that are asked for.
void StreamInput::append_row(const Message& message, const About& about) {
    const auto& names = part_.fields.names();
    std::vector<detail::MessageFields::Value> values(names.size());
    const std::string time = std::to_string(about.time_ns / ns_in_ms);
    const std::string number = std::to_string(about.number);
    for (std::size_t i = 0; i != names.size(); ++i) {
        if (names[i] == "subject") {
            values[i].text = ::natsMsg_GetSubject(message.get());
        } else if (names[i] == "time") {
            values[i] = {time, true};
        } else if (names[i] == "sequence") {
            values[i] = {number, true};
        } else {
            const std::string name = names[i].substr(names[i].find('.') + 1);
            if (const char* const value = header_of(message, name.c_str())) values[i].text = value;
        }
    }
    part_.fields.append(rows_.text(), text_of(message), values);
}

void StreamInput::take_all(int wait_ms) {
    if (request_.asked == 0 || !has_consumer_) ask();
    while (rows_.text().size() < text_bytes && !is_at_end_ && has_consumer_ &&
           request_.asked != 0) {
        const Message message = client_.next(inbox_, rows_.text().empty() ? wait_ms : 0);
        if (message == nullptr) break;
        take(message);
    }
    if (rows_.text().empty() && request_.asked != 0 && now_ns() > request_.until_ns)
        has_consumer_ = false;
}

void StreamInput::fetch(int wait_ms) {
    const int wait = wait_ms < 0 ? wait_most_ms : std::min(wait_ms, wait_most_ms);
    if (!lost_.empty() && now_ns() < retry_at_ns_) {
        std::this_thread::sleep_for(std::chrono::milliseconds(wait));
        return;
    }
    try {
        if (!client_.is_open()) connect_again();
        take_all(wait);
        lost_.clear();
    } catch (const ConnectionLost& error) {
        lost_ = error.what();
        retry_at_ns_ = now_ns() + retry_ns;
        has_consumer_ = false;
        client_.close();
        inbox_ = {};
    }
}

ByteReader::Result StreamInput::read(std::span<char> out, int wait_ms) {
    return rows_.read(out, [this, wait_ms] {
        if (part_.until_end && next_ > end_ && !since_ms_) is_at_end_ = true;
        if (!is_at_end_) fetch(wait_ms);
        return !is_at_end_;
    });
}

void StreamInput::passed(std::uint64_t bytes) {
    rows_.pass(bytes, [](std::uint64_t /*number*/) {});
}

TransportInput::Position StreamInput::position(std::uint64_t bytes) {
    passed(bytes);
    // The message that the place is in has not come again.
    if (is_within_) return {.text = within_message + text_of_place(next_), .bytes = 0};
    if (const auto* const row = rows_.begun_within(bytes)) {
        return {.text = within_message + text_of_place(row->place), .bytes = row->begin};
    }
    const std::uint64_t number = rows_.rows().empty() ? next_ : rows_.rows().front().place;
    return {.text = text_of_place(number), .bytes = bytes};
}

}  // namespace strid::nats
