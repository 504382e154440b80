// SPDX-License-Identifier: Apache-2.0
//
// The Yahoo streaming benchmark by hand: one thread, no engine. Campaigns are found in an array by
// ad, counts of a window stand in an array by campaign, and the windows that are open in a short
// list; the window of the last view is kept at hand, as views of one window come together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/hand/replay.hpp"

namespace strid::bench::hand {

struct AdEvent {
    std::uint32_t user;
    std::uint32_t page;
    std::uint32_t ad;
    std::string_view ad_type;
    std::string_view event_type;
    std::int64_t time_ms;
    std::string_view ip;
};

struct WindowCount {
    std::uint32_t campaign;
    std::int64_t start_ms;
    std::int64_t end_ms;
    std::uint64_t count;
};

/// Reads `ad,campaign` lines into an array by ad.
inline std::vector<std::uint32_t> load_campaigns(const std::string& path) {
    std::vector<std::uint32_t> campaign_of;
    const std::string text = read_file(path);
    for (std::string_view line : split_lines(text)) {
        const auto ad = parse_number<std::uint32_t>(next_field(line));
        if (ad >= campaign_of.size()) {
            campaign_of.resize(ad + std::size_t{1}, std::numeric_limits<std::uint32_t>::max());
        }
        campaign_of[ad] = parse_number<std::uint32_t>(next_field(line));
    }
    return campaign_of;
}

// Inlined everywhere, so that every caller reads an event at the same cost.

/// Reads a whole number up to a comma, and passes that.
template <class Number>
[[gnu::always_inline]] inline Number read_number(const char*& at) {
    Number number = 0;
    const char* const first = at;
    for (; *at >= '0' && *at <= '9'; ++at) number = number * 10 + static_cast<Number>(*at - '0');
    if (at == first || *at != ',') throw std::runtime_error("not a whole number in an event");
    ++at;
    return number;
}

/// Reads text up to `stop`, and passes that.
[[gnu::always_inline]] inline std::string_view read_text(const char*& at, const char* end,
                                                         char stop) {
    const char* const first = at;
    at = static_cast<const char*>(std::memchr(first, stop, static_cast<std::size_t>(end - first)));
    if (at == nullptr) throw std::runtime_error("too few fields in an event");
    return {first, static_cast<std::size_t>(at++ - first)};
}

/// All seven fields of the line that begins at `at`, which goes to the next one. The text up to
/// `end` ends with a newline.
template <class Event = AdEvent>
[[gnu::always_inline]] inline Event parse_event(const char*& at, const char* end) {
    Event event;
    event.user = read_number<std::uint32_t>(at);
    event.page = read_number<std::uint32_t>(at);
    event.ad = read_number<std::uint32_t>(at);
    event.ad_type = read_text(at, end, ',');
    event.event_type = read_text(at, end, ',');
    event.time_ms = read_number<std::int64_t>(at);
    event.ip = read_text(at, end, '\n');
    return event;
}

/// Counts the views of each campaign in tumbling windows. A view that comes when its window is
/// over, because a view before it was more than the disorder ahead of the window's end, is left
/// out.
class ViewCounter {
  public:
    /// `campaign_of` outlives the counter; ads without a campaign have the largest number.
    ViewCounter(const std::vector<std::uint32_t>& campaign_of, std::int64_t window_ms,
                std::int64_t disorder_ms)
        : campaign_of_(campaign_of), window_ms_(window_ms), disorder_ms_(disorder_ms) {
        for (const std::uint32_t campaign : campaign_of) {
            if (campaign != none) campaigns_ = std::max(campaigns_, campaign + std::size_t{1});
        }
    }

    /// Takes an event in; report(WindowCount) is called for each campaign of a window that ends.
    template <class Report>
    void add(const AdEvent& event, Report&& report) {
        if (event.event_type != "view") return;
        if (event.ad >= campaign_of_.size()) return;
        const std::uint32_t campaign = campaign_of_[event.ad];
        if (campaign == none) return;
        if (event.time_ms < start_ms_ || event.time_ms >= end_ms_) [[unlikely]]
            go_to_window(event.time_ms);
        if (counts_ == nullptr) [[unlikely]]
            return;
        ++counts_[campaign];
        if (event.time_ms > latest_ms_) {
            latest_ms_ = event.time_ms;
            if (latest_ms_ - disorder_ms_ >= first_end_ms_) [[unlikely]]
                close_windows(latest_ms_ - disorder_ms_, report);
        }
    }

    /// Reports the windows that are still open.
    template <class Report>
    void finish(Report&& report) {
        close_windows(std::numeric_limits<std::int64_t>::max(), report);
    }

  private:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
    static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

    struct Window {
        std::int64_t start_ms;
        std::vector<std::uint64_t> counts;  // by campaign
    };

    void go_to_window(std::int64_t time_ms) {
        const std::int64_t number =
            (time_ms >= 0 ? time_ms : time_ms - window_ms_ + 1) / window_ms_;
        start_ms_ = number * window_ms_;
        end_ms_ = start_ms_ + window_ms_;
        counts_ = nullptr;
        if (end_ms_ <= closed_ms_) return;  // late
        auto at = std::find_if(open_.begin(), open_.end(), [this](const Window& window) {
            return window.start_ms == start_ms_;
        });
        if (at == open_.end()) {
            open_.push_back({start_ms_, std::vector<std::uint64_t>(campaigns_)});
            at = open_.end() - 1;
            first_end_ms_ = std::min(first_end_ms_, end_ms_);
        }
        counts_ = at->counts.data();
    }

    template <class Report>
    void close_windows(std::int64_t until_ms, Report& report) {
        std::sort(open_.begin(), open_.end(),
                  [](const Window& a, const Window& b) { return a.start_ms < b.start_ms; });
        auto window = open_.begin();
        for (; window != open_.end() && window->start_ms + window_ms_ <= until_ms; ++window) {
            for (std::uint32_t campaign = 0; campaign < campaigns_; ++campaign) {
                if (window->counts[campaign] == 0) continue;
                report(WindowCount{campaign, window->start_ms, window->start_ms + window_ms_,
                                   window->counts[campaign]});
            }
        }
        open_.erase(open_.begin(), window);
        first_end_ms_ = open_.empty() ? never : open_.front().start_ms + window_ms_;
        closed_ms_ = until_ms;
        start_ms_ = end_ms_ = 0;  // the window at hand may have moved, or be closed
    }

    const std::vector<std::uint32_t>& campaign_of_;
    std::int64_t window_ms_;
    std::int64_t disorder_ms_;
    std::size_t campaigns_ = 0;
    std::int64_t latest_ms_ = std::numeric_limits<std::int64_t>::min();
    std::int64_t closed_ms_ = std::numeric_limits<std::int64_t>::min();
    std::int64_t first_end_ms_ = never;  // of the open windows
    std::int64_t start_ms_ = 0;          // of the window at hand
    std::int64_t end_ms_ = 0;
    std::uint64_t* counts_ = nullptr;  // null: the window at hand is closed
    std::vector<Window> open_;
};

}  // namespace strid::bench::hand
