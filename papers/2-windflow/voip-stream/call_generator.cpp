// SPDX-License-Identifier: Apache-2.0
#include "call_generator.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>

#include <strid/base/destination.hpp>

namespace strid::apps::voip_stream {

namespace {

constexpr std::uint64_t days_of_calls = 4;
constexpr std::uint32_t seconds_of_a_day = 86'400;
constexpr std::uint32_t first_day = 1'772'409'600;  // Monday, 2026-03-02
constexpr std::uint64_t calls_per_subscriber = 20;
constexpr std::uint64_t contacts = 12;

/// Calls of a subscriber by hour, over their mean.
constexpr std::array<double, 24> subscriber_hours{0.15, 0.1, 0.05, 0.05, 0.05, 0.1, 0.3, 0.7,
                                                  1.2,  1.6, 1.8,  1.8,  1.6,  1.5, 1.5, 1.6,
                                                  1.6,  1.7, 1.7,  1.6,  1.4,  1.0, 0.6, 0.3};

std::uint32_t drawn_duration(double mean, Random& random) noexcept {
    return 2 + static_cast<std::uint32_t>(-mean * std::log1p(-random.uniform()));
}

/// A file that gets its name when it is complete, in pieces of a megabyte.
class TextFile {
  public:
    explicit TextFile(const std::string& path) : destination_(path, Writing::whole) {
        destination_.open();
    }
    /// The next line goes to its end.
    [[nodiscard]] std::string& text() {
        constexpr std::size_t piece_bytes = std::size_t{1} << 20;
        if (text_.size() >= piece_bytes) write();
        return text_;
    }
    void commit() {
        write();
        destination_.commit(never_);
    }

  private:
    void write() {
        destination_.write(text_, never_);
        text_.clear();
    }

    static inline const std::atomic<bool> never_{false};
    Destination destination_;
    std::string text_;
};

}  // namespace

CallGenerator::CallGenerator(std::uint64_t count, std::uint64_t seed, double telemarketers)
    : count_(count), asked_for_(count), seed_(seed) {
    subscribers_ = std::max<std::uint64_t>(count / calls_per_subscriber, 100);
    telemarketers_ =
        static_cast<std::uint64_t>(std::round(telemarketers * static_cast<double>(subscribers_)));
    telemarketers_ = std::min(telemarketers_, subscribers_ - 50);
    businesses_ = telemarketers_ + std::max<std::uint64_t>(subscribers_ / 50, 2);
    const auto marketing = 15 * static_cast<double>(telemarketers_);
    const auto business = 8 * static_cast<double>(businesses_ - telemarketers_);
    const auto private_calls = static_cast<double>(subscribers_ - businesses_);
    of_businesses_ = business / (business + private_calls);
    for (std::size_t hour = 0; hour < hours; ++hour) {
        // All of a telemarketer's calls lie in 10 hours.
        const double theirs = hour >= 9 && hour < 19 ? 2.4 * marketing : 0;
        const double others = subscriber_hours[hour] * (business + private_calls);
        of_telemarketers_[hour] = theirs / (theirs + others);
        day_[hour + 1] = day_[hour] + theirs + others;
    }
    for (double& share : day_) share /= day_.back();
}

void CallGenerator::on(const Opened& opened) noexcept {
    count_ = opened.context.replica == 0 ? asked_for_ : 0;
    made_ = 0;
}

Call CallGenerator::call(std::uint64_t place) const noexcept {
    Random random(seed_, place);
    const double passed = (static_cast<double>(place) + random.uniform()) /
                          static_cast<double>(asked_for_) * static_cast<double>(days_of_calls);
    const double day = std::floor(passed);
    const double share = passed - day;
    const auto next = std::upper_bound(day_.begin() + 1, day_.end() - 1, share);
    const auto hour = static_cast<std::size_t>(next - day_.begin()) - 1;
    const double of_hour = (share - day_[hour]) / (day_[hour + 1] - day_[hour]);
    const double second = (static_cast<double>(hour) + std::min(of_hour, 1.0)) * 3600;
    Call made;
    made.start = first_day + static_cast<std::uint32_t>(day) * seconds_of_a_day +
                 static_cast<std::uint32_t>(second) - static_cast<std::uint32_t>(random.below(20));
    std::uint64_t caller = 0;
    std::uint64_t callee = 0;
    if (random.uniform() < of_telemarketers_[hour]) {
        // The third power: the least of them make a third of the mean.
        const double u = random.uniform();
        caller = static_cast<std::uint64_t>(u * u * u * static_cast<double>(telemarketers_));
        callee = anybody(caller, random);
        made.established = random.below(10) < 7;
        made.duration = drawn_duration(random.below(5) == 0 ? 120 : 20, random);
    } else {
        const bool is_business = random.uniform() < of_businesses_;
        caller = is_business ? telemarketers_ + random.below(businesses_ - telemarketers_)
                             : businesses_ + random.below(subscribers_ - businesses_);
        const bool to_anybody = random.below(100) < (is_business ? 50 : 5);
        callee = to_anybody ? anybody(caller, random) : contact_of(caller, random);
        made.established = random.below(10) != 0;
        made.duration = drawn_duration(180, random);
    }
    if (!made.established) made.duration = 0;
    made.calling = number_of(caller);
    made.called = number_of(callee);
    return made;
}

std::uint64_t CallGenerator::anybody(std::uint64_t but, Random& random) const noexcept {
    const std::uint64_t one = random.below(subscribers_ - 1);
    return one < but ? one : one + 1;
}

std::uint64_t CallGenerator::contact_of(std::uint64_t subscriber, Random& random) const noexcept {
    if (random.below(7) == 0) {
        const std::uint64_t one = telemarketers_ + random.below(businesses_ - telemarketers_);
        if (one != subscriber) return one;
    }
    const double u = random.uniform();
    const auto which = static_cast<std::uint64_t>(u * u * static_cast<double>(contacts));
    // The same contacts at every call: drawn anew from the subscriber.
    Random fixed(seed_ + 1, subscriber * contacts + which);
    const std::uint64_t one = businesses_ + fixed.below(subscribers_ - businesses_ - 1);
    return one < subscriber ? one : one + 1;
}

Number CallGenerator::number_of(std::uint64_t subscriber) const noexcept {
    // Numbers are scattered: the factor has no divisor in common with the count of numbers.
    constexpr std::uint64_t of_network = 1'000'000'000;
    constexpr std::uint64_t factor = 387'420'489;
    return {139'000'000'000 + (subscriber * factor + seed_ % of_network) % of_network};
}

void CallGenerator::write_calls(const std::string& path) const {
    TextFile file(path);
    for (std::uint64_t place = 0; place < asked_for_; ++place) {
        const Call made = call(place);
        std::string& text = file.text();
        to_csv(text, made.calling);
        text += ',';
        to_csv(text, made.called);
        text += ',';
        to_csv(text, Second{made.start});
        text += ',' + std::to_string(made.duration) + (made.established ? ",true\n" : ",false\n");
    }
    file.commit();
}

void CallGenerator::write_telemarketers(const std::string& path) const {
    TextFile file(path);
    for (std::uint64_t one = 0; one < telemarketers_; ++one) {
        to_csv(file.text(), number_of(one));
        file.text() += '\n';
    }
    file.commit();
}

}  // namespace strid::apps::voip_stream
