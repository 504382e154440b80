// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <random>
#include <thread>

#include <fmt/format.h>

#include <strid/base/clock.hpp>
#include <strid/base/error.hpp>

#include "subject.hpp"

namespace strid::nats {

namespace {

/// So much is on its way to the server at most.
constexpr std::size_t sent_messages_max = 1'000;
constexpr std::size_t sent_bytes_max = std::size_t{4} << 20;
/// A server that acknowledges nothing for so long is connected to again.
constexpr std::int64_t silence_ns = 5'000'000'000;
constexpr int look_ms = 100;  // how soon an interruption is seen
/// Without snapshots a server that acknowledges nothing is waited for so long.
constexpr std::int64_t patience_ns = 15'000'000'000;
/// The rows of an epoch are looked up within.
constexpr std::int64_t look_up_ns = 60'000'000'000;
constexpr std::size_t token_bytes_max = 1'000;
/// Of a message: the number in the stream that its epoch is behind; and whether it ends the epoch.
constexpr const char* behind_header = "Strid-Behind";
constexpr const char* end_header = "Strid-End";
constexpr int parts_at_once = 1'000;
constexpr std::int64_t reader_lives_ns = 30'000'000'000;

/// A name for the ids of a run without snapshots.
std::string random_stream() {
    std::random_device random;
    return fmt::format("{:08x}{:08x}{:08x}", random(), random(), random());
}

Place place_of(TransportAddress& address, bool has_key) {
    (void)address.take("sink");
    Place place(address);
    if (has_wildcards(place.subject)) address.refuse("wildcards are for inputs");
    if (has_key) place.subjects += ".*";
    return place;
}

bool has_key(const TransportAddress& address) {
    return std::any_of(address.left().begin(), address.left().end(),
                       [](const auto& option) { return option.first == "key"; });
}

/// The epoch and the part in an id; none: it is of another stream, or of no output of Strid.
std::optional<std::pair<std::uint64_t, std::uint64_t>> read_id(const char* id,
                                                               std::string_view stream) {
    std::string_view rest = id == nullptr ? std::string_view{} : std::string_view(id);
    if (!rest.starts_with(stream) || !rest.substr(stream.size()).starts_with('-')) return {};
    rest.remove_prefix(stream.size() + 1);
    const std::size_t dash = std::min(rest.find('-'), rest.size());
    std::pair<std::uint64_t, std::uint64_t> found;
    if (dash == rest.size() || !read_number(rest.substr(0, dash), found.first) ||
        !read_number(rest.substr(dash + 1), found.second)) {
        return {};
    }
    return found;
}

/// The text behind `"NAME":`; empty: it is not there.
std::string_view behind(std::string_view json, std::string_view name) {
    const std::size_t found = json.find(name);
    return found == std::string_view::npos ? std::string_view{} : json.substr(found + name.size());
}

std::uint64_t number_behind(std::string_view json, std::string_view name) {
    const std::string_view text = behind(json, name);
    std::uint64_t number = 0;
    (void)std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

/// The stream may take the message later, as when it has room again.
bool may_be_taken_later(std::uint64_t code) noexcept {
    return code == JSStreamStoreFailedErr || code == JSClusterNotAvailErr ||
           code == JSClusterNotLeaderErr || code == JSInsufficientResourcesErr ||
           code == JSStorageResourcesExceededErr || code == JSMemoryResourcesExceededErr ||
           code == JSAccountResourcesExceededErr || code == JSStreamOfflineErr;
}

}  // namespace

StreamOutput::StreamOutput(TransportAddress address)
    : has_key_(has_key(address)),
      rows_(address),
      place_(place_of(address, has_key_)),
      client_(place_),
      stream_(random_stream()) {}

void StreamOutput::open(const std::vector<std::string>& columns) {
    close();
    rows_.set_columns(columns);
    connect();
    if (by_epoch_) find_begun();
}

void StreamOutput::connect() {
    const StreamState stream = client_.open();
    const bool takes = std::any_of(
        stream.subjects.begin(), stream.subjects.end(),
        [this](const std::string& subject) { return overlap(subject, place_.subjects); });
    if (!takes) {
        throw InputOutputError(fmt::format("{}: the stream '{}' does not take the subject '{}'",
                                           place_.address, place_.stream, place_.subjects));
    }
    last_ = stream.last;
    answers_ = client_.make_inbox(true);
    answer_until_ns_ = now_ns() + silence_ns;
}

/// Of a run without snapshots. All that is not acknowledged is sent once more, with its ids.
void StreamOutput::connect_again() {
    for (;;) {
        client_.close();
        answers_ = {};
        check_interruption();
        std::this_thread::sleep_for(std::chrono::milliseconds(look_ms));
        try {
            connect();
            for (const auto& [part, one] : sent_) send(part, one);
            return;
        } catch (const ConnectionLost&) {
            if (is_to_give_up()) throw;
        }
    }
}

void StreamOutput::close() noexcept {
    sent_.clear();
    sent_bytes_ = 0;
    epoch_rows_.clear();
    client_.close();
    answers_ = {};
}

void StreamOutput::check_interruption() const {
    if (is_interrupted_.load(std::memory_order_relaxed)) {  // orders nothing
        throw ConnectionLost(place_.address + ": interrupted");
    }
}

void StreamOutput::write(std::string_view rows) {
    if (by_epoch_) {
        epoch_rows_ += rows;
    } else {
        send_rows(rows);
    }
}

/// A row is sent when it is known whether it is the last one.
void StreamOutput::send_rows(std::string_view rows) {
    std::optional<Sent> held;
    rows_.for_each(rows, [this, &held](const detail::MessageRows::Message& message) {
        if (held) send_part(part_++, std::move(*held));
        held = sent_of(message);
    });
    if (!held) return;
    held->ends_epoch = by_epoch_;
    send_part(part_++, std::move(*held));
}

StreamOutput::Sent StreamOutput::sent_of(const detail::MessageRows::Message& message) const {
    Sent one{.subject = place_.subject, .payload = std::string(message.payload)};
    if (!message.key) return one;
    const std::string token = token_of(*message.key);
    if (token.size() > token_bytes_max) {
        throw InputOutputError(fmt::format("{}: a key of {} bytes is too long for a subject",
                                           place_.address, message.key->size()));
    }
    one.subject += '.' + token;
    return one;
}

void StreamOutput::send_part(std::uint64_t part, Sent one) {
    if (by_epoch_ && part < begun_.is_there.size() && begun_.is_there[part]) return;
    wait_for_acknowledgements(sent_messages_max, sent_bytes_max);
    if (sent_.empty()) note_answer();
    sent_bytes_ += one.payload.size();
    const auto added = sent_.emplace(part, std::move(one)).first;
    try {
        send(part, added->second);
    } catch (const ConnectionLost&) {
        if (is_to_give_up()) throw;
        connect_again();
    }
}

void StreamOutput::send(std::uint64_t part, const Sent& one) {
    const std::string answer = fmt::format("{}.{}", answers_.name, part);
    ::natsMsg* made = nullptr;
    bool is_made = ::natsMsg_Create(&made, one.subject.c_str(), answer.c_str(), one.payload.data(),
                                    static_cast<int>(one.payload.size())) == NATS_OK;
    const Message message(made);
    const auto add = [&](const char* name, const std::string& value) {
        is_made = is_made && ::natsMsgHeader_Set(message.get(), name, value.c_str()) == NATS_OK;
    };
    add("Nats-Msg-Id", fmt::format("{}-{}-{}", stream_, number_, part));
    add("Nats-Expected-Stream", place_.stream);
    if (by_epoch_) add(behind_header, std::to_string(begun_.behind));
    if (one.ends_epoch) add(end_header, "1");
    if (!is_made) throw InputOutputError(place_.address + ": a message cannot be made");
    client_.publish(message);
}

void StreamOutput::wait_for_acknowledgements(std::size_t messages, std::size_t bytes) {
    while (sent_.size() >= messages || sent_bytes_ >= bytes) {
        try {
            take_acknowledgement(look_ms);
        } catch (const ConnectionLost&) {
            if (is_to_give_up()) throw;
            connect_again();
        }
    }
}

/// The server has done something.
void StreamOutput::note_answer() {
    answer_until_ns_ = now_ns() + silence_ns;
    give_up_at_ns_ = now_ns() + patience_ns;
}

/// A run with snapshots connects again itself.
bool StreamOutput::is_to_give_up() const {
    return by_epoch_ || is_interrupted_.load(std::memory_order_relaxed) ||  // orders nothing
           now_ns() > give_up_at_ns_;
}

void StreamOutput::take_acknowledgement(int wait_ms) {
    check_interruption();
    const Message message = client_.next(answers_, wait_ms);
    if (message == nullptr) {
        if (now_ns() < answer_until_ns_) return;
        throw ConnectionLost(place_.address + ": the server does not acknowledge");
    }
    check_acknowledgement(text_of(message));
    note_answer();
    const std::string_view subject = ::natsMsg_GetSubject(message.get());
    std::uint64_t part = 0;
    if (read_number(subject.substr(subject.rfind('.') + 1), part)) end_part(part);
}

void StreamOutput::check_acknowledgement(std::string_view text) {
    if (text.find("\"error\":") == std::string_view::npos) {
        last_ = std::max(last_, number_behind(text, "\"seq\":"));
        return;
    }
    const std::uint64_t code = number_behind(text, "\"err_code\":");
    std::string_view reason = behind(text, "\"description\":\"");
    reason = reason.substr(0, reason.find('"'));
    const std::string sentence = fmt::format("{}: the stream '{}' does not take a message: {}",
                                             place_.address, place_.stream, reason);
    if (may_be_taken_later(code)) throw ConnectionLost(sentence);
    throw InputOutputError(sentence);
}

void StreamOutput::end_part(std::uint64_t part) {
    const auto found = sent_.find(part);
    if (found == sent_.end()) return;
    sent_bytes_ -= found->second.payload.size();
    sent_.erase(found);
    if (by_epoch_) begun_.add(part);
}

void StreamOutput::commit() {
    wait_for_acknowledgements(1, 1);
    ++number_;
    part_ = 0;
}

void StreamOutput::commit(const Epoch& epoch) {
    if (!by_epoch_) return commit();
    // Of one before the last epoch that the stream has, it has all.
    if (epoch.number >= begun_.number) {
        if (epoch.number > begun_.number) begun_ = {.number = epoch.number, .behind = last_};
        number_ = epoch.number;
        part_ = 0;
        send_rows(epoch_rows_);
        wait_for_acknowledgements(1, 1);
    }
    epoch_rows_.clear();
}

std::uint64_t StreamOutput::last_epoch(std::string_view stream) {
    if (!by_epoch_ || stream_ != stream) {
        by_epoch_ = true;
        stream_ = stream;
        begun_ = {};
        find_begun();
    }
    return begun_.number == 0 || begun_.is_whole() ? begun_.number : begun_.number - 1;
}

void StreamOutput::Begun::add(std::uint64_t part) {
    if (is_there.size() <= part) is_there.resize(part + 1);
    is_there[part] = true;
}

bool StreamOutput::Begun::is_whole() const {
    return parts != 0 && is_there.size() == parts &&
           std::find(is_there.begin(), is_there.end(), false) == is_there.end();
}

/// By the last message of the subjects, where it is one of this stream.
void StreamOutput::find_begun() {
    const Message last = client_.last_message(place_.subjects);
    if (last == nullptr) return;
    const auto id = read_id(header_of(last, "Nats-Msg-Id"), stream_);
    const char* const before = header_of(last, behind_header);
    std::uint64_t behind = 0;
    if (!id || id->first < begun_.number || before == nullptr || !read_number(before, behind)) {
        return;
    }
    if (id->first > begun_.number) begun_ = {.number = id->first};
    begun_.behind = behind;
    ::jsConsumerConfig config{};
    ::jsConsumerConfig_Init(&config);
    config.AckPolicy = js_AckNone;
    config.ReplayPolicy = js_ReplayInstant;
    config.DeliverPolicy = js_DeliverByStartSequence;
    config.OptStartSeq = behind + 1;
    config.FilterSubject = place_.subjects.c_str();
    config.HeadersOnly = true;
    config.MemoryStorage = true;
    config.InactiveThreshold = reader_lives_ns;
    find_parts(client_.make_consumer(config));
}

void StreamOutput::find_parts(std::uint64_t pending) {
    const Client::Inbox inbox = client_.make_inbox(false);
    const std::int64_t until = now_ns() + look_up_ns;
    for (int asked = 0; pending != 0;) {
        check_interruption();
        if (asked == 0) {
            asked = parts_at_once;
            client_.request(inbox, fmt::format(R"({{"batch":{},"no_wait":true}})", asked));
        }
        const Message message = client_.next(inbox, look_ms);
        if (message == nullptr && now_ns() > until) {
            throw ConnectionLost(place_.address + ": the server does not answer");
        }
        if (message == nullptr) continue;
        if (::natsMsg_GetReply(message.get()) == nullptr) {  // a status: there are no more
            if (asked == parts_at_once) return;
            asked = 0;
            continue;
        }
        --asked;
        --pending;
        const auto id = read_id(header_of(message, "Nats-Msg-Id"), stream_);
        if (!id || id->first != begun_.number) continue;
        begun_.add(id->second);
        if (header_of(message, end_header) != nullptr) begun_.parts = id->second + 1;
    }
}

}  // namespace strid::nats
