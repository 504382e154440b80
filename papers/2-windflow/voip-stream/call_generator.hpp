// SPDX-License-Identifier: Apache-2.0
//
// Calls that are made instead of read, the same for the same seed: of four days of a network with
// a subscriber for every 20 calls.
//
//   subscribers    call by day more than by night, mostly one of 12 contacts, some more often than
//                  others; talks are exponential, of 3 minutes in the mean
//   businesses     one in 50: 8 times as many calls, half of them to any number; a seventh of all
//                  calls of subscribers goes to one
//   telemarketers  a share of the numbers: 5 times as many calls and more, 15 times in the mean,
//                  from 9 to 19 o'clock, each to any number; most talks are some seconds long
//
// A call may stand up to 20 seconds behind later ones, as records are written when calls end.
//
// A call depends on the seed and its place alone; one replica makes all, in their order. One
// thread at a time; fraction_done() by any.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>

#include <strid/connector/pace.hpp>
#include <strid/connector/random.hpp>
#include <strid/operator/context.hpp>
#include <strid/operator/source.hpp>

#include "call.hpp"

namespace strid::apps::voip_stream {

class CallGenerator {
  public:
    using record_type = Call;
    static constexpr SourceTraits traits{.hears = events<Opened>,
                                         .has = Has::fraction_done | Has::replicas_used};

    /// `telemarketers`: their share of the numbers.
    CallGenerator(std::uint64_t count, std::uint64_t seed, double telemarketers);

    void on(const Opened& opened) noexcept;
    [[nodiscard]] static std::size_t replicas_used(std::size_t /*replicas*/) noexcept { return 1; }

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        for (; budget > 0 && made_ != count_; --budget) {
            if (!emit(call(made_++))) break;
        }
        fraction_done_.store(
            count_ == 0 ? 1 : static_cast<double>(made_) / static_cast<double>(count_));
        return made_ == count_ ? SourceStatus::finished : SourceStatus::more;
    }
    [[nodiscard]] double fraction_done() const noexcept { return fraction_done_.load(); }

    /// The call at a place, from 0 to count - 1.
    [[nodiscard]] Call call(std::uint64_t place) const noexcept;
    /// Writes all calls as rows of the input. Throws InputOutputError.
    void write_calls(const std::string& path) const;
    /// Writes the numbers of the telemarketers, a line each. Throws InputOutputError.
    void write_telemarketers(const std::string& path) const;
    auto state() { return std::tie(made_); }

  private:
    static constexpr std::uint64_t hours = 24;

    [[nodiscard]] Number number_of(std::uint64_t subscriber) const noexcept;
    [[nodiscard]] std::uint64_t contact_of(std::uint64_t subscriber, Random& random) const noexcept;
    [[nodiscard]] std::uint64_t anybody(std::uint64_t but, Random& random) const noexcept;

    std::uint64_t count_;
    std::uint64_t asked_for_;
    std::uint64_t seed_;
    std::uint64_t telemarketers_;  // subscribers below this number
    std::uint64_t businesses_;     // those from there to below this number
    std::uint64_t subscribers_;
    std::array<double, hours + 1> day_{};           // share of a day's calls before each hour
    std::array<double, hours> of_telemarketers_{};  // share of an hour's calls
    double of_businesses_ = 0;                      // share of the others
    std::uint64_t made_ = 0;
    SharedFraction fraction_done_;
};

}  // namespace strid::apps::voip_stream
