// SPDX-License-Identifier: Apache-2.0
//
// From the features of a caller to its scores (README.md, steps 8 to 11), and the mean duration of
// all calls. Stateless but for MeanDuration, which one thread uses at a time.
#pragma once

#include <algorithm>
#include <cstdint>

#include "call.hpp"
#include "growth.hpp"

namespace strid::apps::voip_stream {

/// Calls that are assumed of a caller before it is known.
inline constexpr double prior_calls = 5;

[[nodiscard]] constexpr double ramp(double x, double zero, double one) noexcept {
    return std::min(std::max((x - zero) / (one - zero), 0.0), 1.0);
}
[[nodiscard]] constexpr double fofir_of(double ecr, double rcr) noexcept {
    return ramp(ecr / (rcr + prior_calls), 2, 10);
}
[[nodiscard]] constexpr double url_of(double encr, double ecr) noexcept {
    return ramp(encr / (ecr + prior_calls), 0.5, 1);
}
[[nodiscard]] constexpr double acd_of(double ct24, double ecr24, double mean) noexcept {
    if (!(mean > 0)) return 0;
    return ramp((ct24 + prior_calls * mean) / (ecr24 + prior_calls) / mean, 0.9, 0.3);
}
[[nodiscard]] constexpr double score_of(double fofir, double url, double acd) noexcept {
    return (2 * fofir + 3 * url + 3 * acd) / 8;
}

[[nodiscard]] inline CallScore score_of(const CallFeatures& call) noexcept {
    CallScore scored{.calling = number_of(call.calling),
                     .called = number_of(call.called),
                     .start = {call.start},
                     .fofir = fofir_of(call.ecr, call.rcr),
                     .url = url_of(call.encr, call.ecr),
                     .acd = acd_of(call.ct24, call.ecr24, call.mean),
                     .score = 0};
    scored.score = score_of(scored.fofir, scored.url, scored.acd);
    return scored;
}

/// The decaying mean duration of all calls.
class MeanDuration {
  public:
    /// With this call in it. 0 where no call counts any more, as this one is late by too much.
    double add(std::uint32_t duration, std::int64_t start, std::int64_t now,
               const Growth& growth) noexcept {
        if (now != before_) {
            const double gone = growth.of(before_ - now);
            talked_ *= gone;
            calls_ *= gone;
            before_ = now;
        }
        const double weight = start == now ? 1.0 : growth.of(start - now);
        talked_ += duration * weight;
        calls_ += weight;
        return calls_ > 0 ? talked_ / calls_ : 0;
    }

  private:
    std::int64_t before_ = 0;
    double talked_ = 0;
    double calls_ = 0;
};

}  // namespace strid::apps::voip_stream
