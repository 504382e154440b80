// SPDX-License-Identifier: Apache-2.0
//
// Telemarketing scores by hand: one thread, no engine. The rules are those of
// papers/2-windflow/voip-stream/README.md with its defaults; what the shards have lies in one array
// for each count, and the four counts of a caller side by side.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bench/hand/replay.hpp"

namespace strid::bench::hand {

struct PhoneCall {
    std::uint64_t calling;  ///< the digits behind a 1
    std::uint64_t called;
    std::uint32_t start;  ///< seconds since 1970
    std::uint32_t duration;
    bool established;
};

struct PhoneScore {
    std::uint64_t calling;
    std::uint64_t called;
    std::uint32_t start;
    double fofir;
    double url;
    double acd;
    double score;
};

inline std::uint32_t parse_utc(std::string_view text) {
    std::tm date{};
    if (::strptime(std::string(text).c_str(), "%Y-%m-%dT%H:%M:%SZ", &date) == nullptr)
        throw std::runtime_error("not a time: " + std::string(text));
    return static_cast<std::uint32_t>(::timegm(&date));
}

/// The calls of a file, in its order.
inline std::vector<PhoneCall> load_calls(const std::string& path) {
    std::vector<PhoneCall> calls;
    const std::string text = read_file(path);
    const auto number = [](std::string_view digits) {
        return parse_number<std::uint64_t>("1" + std::string(digits));
    };
    for (std::string_view line : split_lines(text)) {
        PhoneCall call{};
        call.calling = number(next_field(line));
        call.called = number(next_field(line));
        call.start = parse_utc(next_field(line));
        call.duration = parse_number<std::uint32_t>(next_field(line));
        call.established = next_field(line) == "true";
        calls.push_back(call);
    }
    return calls;
}

class CallScorer {
  public:
    CallScorer() : received_(shards * lines), made_(shards * lines), pairs_(shards * pair_lines) {}

    /// report(PhoneScore) is called for each established call.
    template <class Report>
    void add(const PhoneCall& call, Report&& report) {
        now_ = std::max<std::int64_t>(now_, call.start);
        if (!call.established) return;
        if (now_ >= next_change_) [[unlikely]]
            change_periods();
        const double brief_now = brief_.of(now_ - brief_begin_);
        const double whole_now = whole_.of(now_ - whole_begin_);
        const bool in_time = call.start == now_;
        const double brief = in_time ? brief_now : brief_.of(call.start - brief_begin_);
        const double whole = in_time ? whole_now : whole_.of(call.start - whole_begin_);
        const double mean = mean_with(call, in_time);
        const std::uint64_t caller = mix(call.calling);
        const std::uint64_t callee = mix(call.called);
        const bool is_new = add_pair(caller, callee);
        raise(received_[line_of(callee)], callee, 1, brief);
        const double rcr =
            static_cast<double>(least(received_[line_of(caller)], caller)) / brief_now;
        CallerLines& made = made_[line_of(caller)];
        const double ct24 = raise(made[0], caller, call.duration, whole) / whole_now;
        const double ecr24 = raise(made[1], caller, 1, whole) / whole_now;
        const double ecr = raise(made[2], caller, 1, brief) / brief_now;
        const double encr = (is_new ? raise(made[3], caller, 1, brief)
                                    : static_cast<double>(least(made[3], caller))) /
                            brief_now;
        PhoneScore score{call.calling, call.called, call.start, 0, 0, 0, 0};
        score.fofir = ramp(ecr / (rcr + 5), 2, 10);
        score.url = ramp(encr / (ecr + 5), 0.5, 1);
        score.acd = mean > 0 ? ramp((ct24 + 5 * mean) / (ecr24 + 5) / mean, 0.9, 0.3) : 0;
        score.score = (2 * score.fofir + 3 * score.url + 3 * score.acd) / 8;
        report(score);
    }

  private:
    static constexpr std::size_t shards = 64;
    static constexpr std::size_t lines = 100'000 / 32;
    static constexpr std::size_t pair_lines = (1'000'000 + 2559) / 2560;
    static constexpr std::int64_t memory = std::int64_t{7} * 24 * 3600;

    struct alignas(64) Line {
        std::array<float, 16> cells{};
    };
    using CallerLines = std::array<Line, 4>;
    struct alignas(64) PairLine {
        std::array<std::uint64_t, 8> bits{};
    };

    /// exp(seconds / time) for whole seconds.
    class Exponential {
      public:
        explicit Exponential(std::int64_t time) : time_(static_cast<double>(time)) {
            for (int i = 0; i < 1024; ++i) {
                up_.push_back(std::exp(i / time_));
                down_.push_back(std::exp(-i / time_));
            }
            for (std::int64_t i = 0; i <= 32 * time / 1024; ++i) {
                const auto seconds = static_cast<double>(1024 * i);
                far_up_.push_back(std::exp(seconds / time_));
                far_down_.push_back(std::exp(-seconds / time_));
            }
        }
        [[nodiscard]] double of(std::int64_t seconds) const {
            const auto far = static_cast<std::uint64_t>(std::abs(seconds)) / 1024;
            if (far >= far_up_.size()) return std::exp(static_cast<double>(seconds) / time_);
            const auto near = static_cast<std::uint64_t>(std::abs(seconds)) % 1024;
            return seconds >= 0 ? up_[near] * far_up_[far] : down_[near] * far_down_[far];
        }

      private:
        double time_;
        std::vector<double> up_, far_up_, down_, far_down_;
    };

    static std::uint64_t mix(std::uint64_t x) {
        x = (x ^ (x >> 33)) * 0xff51afd7ed558ccd;
        x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53;
        return x ^ (x >> 33);
    }
    static std::size_t line_of(std::uint64_t hash) {
        return hash % shards * lines + ((hash >> 32) * lines >> 32);
    }
    static std::size_t cell(std::uint64_t hash, unsigned quarter) {
        return 4 * quarter + (hash >> (8 + 2 * quarter) & 3);
    }
    static float least(const Line& line, std::uint64_t hash) {
        float sum = line.cells[cell(hash, 0)];
        for (unsigned i = 1; i < 4; ++i) sum = std::min(sum, line.cells[cell(hash, i)]);
        return sum;
    }
    static double raise(Line& line, std::uint64_t hash, double quantity, double weight) {
        const auto sum =
            static_cast<float>(static_cast<double>(least(line, hash)) + quantity * weight);
        for (unsigned i = 0; i < 4; ++i) {
            float& one = line.cells[cell(hash, i)];
            one = std::max(one, sum);
        }
        return static_cast<double>(sum);
    }
    static double ramp(double x, double zero, double one) {
        return std::min(std::max((x - zero) / (one - zero), 0.0), 1.0);
    }

    double mean_with(const PhoneCall& call, bool in_time) {
        if (now_ != mean_at_) {
            const double gone = whole_.of(mean_at_ - now_);
            talked_ *= gone;
            calls_ *= gone;
            mean_at_ = now_;
        }
        const double weight = in_time ? 1 : whole_.of(call.start - now_);
        talked_ += call.duration * weight;
        calls_ += weight;
        return calls_ > 0 ? talked_ / calls_ : 0;
    }
    bool add_pair(std::uint64_t caller, std::uint64_t callee) {
        const std::uint64_t hash = mix(caller ^ callee * 0x9e3779b97f4a7c15);
        const std::size_t at = caller % shards * pair_lines + ((hash >> 48) * pair_lines >> 16);
        bool in_current = true;
        bool in_previous = true;
        for (unsigned w = 0; w < 8; ++w) {
            const std::uint64_t bit = std::uint64_t{1} << (hash >> (6 * w) & 63);
            in_current = in_current && (pairs_[at].bits[w] & bit) != 0;
            in_previous = in_previous && !old_pairs_.empty() && (old_pairs_[at].bits[w] & bit) != 0;
            pairs_[at].bits[w] |= bit;
        }
        return !in_current && !in_previous;
    }

    static void scale_down(Line& line) {
        for (float& one : line.cells) {
            const auto scaled = static_cast<float>(static_cast<double>(one) * std::exp(-32.0));
            one = scaled < 1e-6F ? 0 : scaled;
        }
    }
    void change_periods() {
        for (; brief_begin_ + brief_length <= now_; brief_begin_ += brief_length) {
            if (next_change_ == 0) continue;  // before the first call
            for (Line& line : received_) scale_down(line);
            for (CallerLines& of_caller : made_) {
                scale_down(of_caller[2]);
                scale_down(of_caller[3]);
            }
        }
        for (; whole_begin_ + whole_length <= now_; whole_begin_ += whole_length) {
            if (next_change_ == 0) continue;
            for (CallerLines& of_caller : made_) {
                scale_down(of_caller[0]);
                scale_down(of_caller[1]);
            }
        }
        const std::int64_t generation = now_ / memory;
        if (generation != generation_) {
            old_pairs_ = generation == generation_ + 1 ? pairs_ : std::vector<PairLine>{};
            std::fill(pairs_.begin(), pairs_.end(), PairLine{});
            generation_ = generation;
        }
        next_change_ = std::min(
            {brief_begin_ + brief_length, whole_begin_ + whole_length, (generation + 1) * memory});
    }

    static constexpr std::int64_t brief_time = 6 * 3600;
    static constexpr std::int64_t whole_time = 24 * 3600;
    static constexpr std::int64_t brief_length = 32 * brief_time;
    static constexpr std::int64_t whole_length = 32 * whole_time;

    Exponential brief_{brief_time};
    Exponential whole_{whole_time};
    std::vector<Line> received_;
    std::vector<CallerLines> made_;
    std::vector<PairLine> pairs_;
    std::vector<PairLine> old_pairs_;  // empty: none
    std::int64_t now_ = 0;
    std::int64_t next_change_ = 0;
    std::int64_t brief_begin_ = 0;
    std::int64_t whole_begin_ = 0;
    std::int64_t generation_ = -2;
    std::int64_t mean_at_ = 0;
    double talked_ = 0;
    double calls_ = 0;
};

struct VoipStreamResult : ReplayResult {
    std::uint64_t scores = 0;
    double checksum = 0;
};

inline VoipStreamResult run_voip_stream(const std::vector<PhoneCall>& calls,
                                        std::chrono::nanoseconds duration) {
    CallScorer scorer;
    VoipStreamResult result;
    static_cast<ReplayResult&>(result) = replay(calls, duration, [&](const PhoneCall& call) {
        scorer.add(call, [&result](const PhoneScore& score) {
            ++result.scores;
            result.checksum += score.score;
        });
    });
    return result;
}

}  // namespace strid::bench::hand
