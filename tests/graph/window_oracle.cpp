// SPDX-License-Identifier: Apache-2.0
//
// Compiled once for all tests of windows.
#include "window_oracle.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <utility>

namespace strid::test {

std::vector<EventTime> watermarks(const std::vector<Event>& events, Duration bound) {
    std::vector<EventTime> result;
    std::optional<std::int64_t> latest;
    for (const Event& event : events) {
        result.push_back(latest ? at(*latest - bound.count()) : EventTime::earliest());
        latest = std::max(latest.value_or(event.time.ns()), event.time.ns());
    }
    return result;
}

bool has_passed(std::int64_t end, Duration lateness, EventTime asserted) {
    // From a time before 1970 to the last one it is more than a signed number holds.
    const auto since = static_cast<std::uint64_t>(asserted.ns()) - static_cast<std::uint64_t>(end);
    return asserted.ns() >= end && since >= static_cast<std::uint64_t>(lateness.count());
}

std::vector<std::int64_t> starts_of(const TimeWindows& windows, EventTime time) {
    const std::int64_t length = windows.length().count();
    const std::int64_t slide = windows.slide().count();
    const std::int64_t since = time.ns() - windows.offset().count();
    std::int64_t start = time.ns() - since % slide - (since % slide < 0 ? slide : 0);
    std::vector<std::int64_t> starts;
    for (; time.ns() - start < length; start -= slide) starts.push_back(start);
    std::reverse(starts.begin(), starts.end());
    return starts;
}

std::optional<EventTime> first_end(const TimeWindows& windows, EventTime time) {
    const auto starts = starts_of(windows, time);
    if (starts.empty()) return std::nullopt;
    return at(starts.front() + windows.length().count());
}

double sum_of(const std::vector<Event>& records) {
    std::int64_t total = 0;
    for (const Event& record : records) total += record.value;
    return static_cast<double>(total);
}
double count_of(const std::vector<Event>& records) {
    return static_cast<double>(records.size());
}
double mean_of(const std::vector<Event>& records) {
    return sum_of(records) / count_of(records);
}
double largest_of(const std::vector<Event>& records) {
    std::int64_t largest = std::numeric_limits<std::int64_t>::min();
    for (const Event& record : records) {
        if (record.value > largest) largest = record.value;
    }
    return static_cast<double>(largest);
}

void sort(Answer& answer) {
    std::sort(answer.rows.begin(), answer.rows.end());
    std::sort(answer.late.begin(), answer.late.end());
}

Answer expected(const std::vector<Event>& events, const TimeWindows& windows, Duration bound,
                Duration lateness, const ValueOf& value_of) {
    Answer answer;
    std::map<std::tuple<std::uint32_t, std::int64_t>, std::vector<Event>> contents;
    const std::int64_t length = windows.length().count();
    const auto asserted = watermarks(events, bound);
    for (std::size_t i = 0; i < events.size(); ++i) {
        const Event& event = events[i];
        const auto starts = starts_of(windows, event.time);
        bool taken = false;
        for (const std::int64_t start : starts) {
            if (has_passed(start + length, lateness, asserted[i])) continue;
            taken = true;
            contents[{event.key, start}].push_back(event);
        }
        if (!starts.empty() && !taken) answer.late.push_back(event);
    }
    for (const auto& [where, records] : contents) {
        const auto& [key, start] = where;
        answer.rows.emplace_back(key, start, start + length, value_of(records));
    }
    sort(answer);
    return answer;
}

Answer expected(const std::vector<Event>& events, const SessionWindows& windows, Duration bound,
                Duration lateness, const ValueOf& value_of) {
    struct Session {
        std::int64_t first;
        std::int64_t last;
        std::vector<Event> records;
    };
    Answer answer;
    std::map<std::uint32_t, std::vector<Session>> open;
    std::map<std::uint32_t, std::vector<Session>> closed;
    const std::int64_t gap = windows.gap().count();
    const auto close = [&](std::uint32_t key, const Session& session) {
        answer.rows.emplace_back(key, session.first, session.last + gap, value_of(session.records));
    };
    const auto asserted = watermarks(events, bound);
    for (std::size_t i = 0; i < events.size(); ++i) {
        const Event& event = events[i];
        // A record at the end of a session still belongs to it.
        const auto is_closed = [&](std::int64_t last) {
            return has_passed(last + gap + 1, lateness, asserted[i]);
        };
        auto& sessions = open[event.key];
        std::erase_if(sessions, [&](const Session& session) {
            if (!is_closed(session.last)) return false;
            close(event.key, session);
            closed[event.key].push_back(session);
            return true;
        });
        const auto touches = [&](const Session& session) {
            return session.first - gap <= event.time.ns() && event.time.ns() <= session.last + gap;
        };
        const bool is_within =
            std::any_of(sessions.begin(), sessions.end(), [&](const Session& session) {
                return session.first <= event.time.ns() && event.time.ns() <= session.last + gap;
            });
        const auto& over = closed[event.key];
        if (std::any_of(over.begin(), over.end(), touches)) {
            answer.late.push_back(event);
            continue;
        }
        Session joined{event.time.ns(), event.time.ns(), {}};
        std::vector<Session> rest;
        for (Session& session : sessions) {
            if (touches(session)) {
                joined.first = std::min(joined.first, session.first);
                joined.last = std::max(joined.last, session.last);
                joined.records.insert(joined.records.end(), session.records.begin(),
                                      session.records.end());
            } else {
                rest.push_back(session);
            }
        }
        joined.records.push_back(event);
        if (is_closed(event.time.ns()) && !is_within) {
            answer.late.push_back(event);
            continue;
        }
        rest.push_back(joined);
        sessions = rest;
    }
    for (const auto& [key, sessions] : open) {
        for (const Session& session : sessions) close(key, session);
    }
    sort(answer);
    return answer;
}

}  // namespace strid::test
