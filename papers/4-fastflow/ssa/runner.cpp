// SPDX-License-Identifier: Apache-2.0
#include "runner.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace strid::ssa {

Runner::Runner(const Kinetics& kinetics, const Plan& plan, bool keeps_text)
    : plan_(plan),
      reals_(kinetics.reals()),
      keeps_text_(keeps_text),
      method_(make_method(kinetics, plan)) {}

void Runner::begin(std::uint64_t first, std::uint64_t last) {
    first_ = first;
    now_ = first;
    last_ = last;
    events_ = 0;
    begun_ = false;
    failure_ = nullptr;
    text_.clear();
}

bool Runner::advance(std::uint64_t events, Statistics& statistics) {
    statistics_ = &statistics;
    const std::uint64_t end = events_ + events;
    try {
        while (now_ != last_ && events_ < end) {
            if (!begun_) {
                method_->begin(now_);
                events_ += begin_events;
                begun_ = true;
            }
            const std::uint64_t before = method_->steps();
            const bool ended = method_->advance(end - std::min(events_, end - 1), *this);
            events_ += method_->steps() - before;
            if (!ended) continue;
            begun_ = false;
            ++now_;
        }
    } catch (...) {
        failure_ = std::current_exception();
        return true;
    }
    return now_ == last_;
}

void Runner::record(std::uint64_t trajectory, std::size_t sample, const double* counts) {
    statistics_->add(sample, counts);
    if (!keeps_text_) return;
    auto out = std::back_inserter(text_);
    fmt::format_to(out, "{},{}", trajectory, plan_.sample_time(sample));
    for (std::size_t i = 0; i < reals_.size(); ++i) {
        if (reals_[i]) {
            fmt::format_to(out, ",{}", counts[i]);
        } else {
            fmt::format_to(out, ",{}", static_cast<std::uint64_t>(counts[i]));
        }
    }
    text_ += '\n';
}

}  // namespace strid::ssa
