// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <strid/base/watermark.hpp>

namespace strid {

namespace {

std::string text_of(EventTime time) {
    if (time == EventTime::earliest()) return "before everything";
    if (time == EventTime::latest()) return "the end of time";
    return fmt::format("{} ns", time.ns());
}

}  // namespace

WatermarkError::WatermarkError(EventTime watermark, EventTime before)
    : Error(fmt::format("a watermark goes back: from {} to {}", text_of(before),
                        text_of(watermark))) {}

BoundedDisorder::BoundedDisorder(Duration bound) : bound_(bound) {
    if (bound < Duration::zero()) {
        throw Error(fmt::format("the bound of the disorder is {} ns: it must not be negative",
                                bound.count()));
    }
}

detail::Silence::Silence(Duration after) : after_(after) {
    if (after < Duration::zero()) {
        throw Error(fmt::format("time goes on after {} ns of silence: they must not be negative",
                                after.count()));
    }
}

WatermarkMerge::WatermarkMerge(std::size_t inputs) : inputs_(inputs), active_(inputs) {
    if (inputs == 0) throw Error("a merge of watermarks needs an input");
}

void WatermarkMerge::update(std::size_t input, EventTime watermark) {
    Input& one = inputs_[input];
    if (watermark < one.time) {
        const bool is_anew = input < before_anew_.size() && before_anew_[input] == one.time;
        if (!is_anew) throw WatermarkError(watermark, one.time);
        watermark = one.time;
    }
    const bool held_back = one.state == State::idle || one.time <= watermark_;
    if (one.state == State::idle) ++active_;
    one = {watermark, State::active};
    if (held_back) recompute();
}

void WatermarkMerge::set_idle(std::size_t input) {
    Input& one = inputs_[input];
    if (one.state != State::active) return;
    one.state = State::idle;
    --active_;
    if (one.time <= watermark_) recompute();
}

void WatermarkMerge::set_ended(std::size_t input) {
    Input& one = inputs_[input];
    if (one.state == State::ended) return;
    if (one.state == State::active) --active_;
    last_ = std::max(last_, one.time);
    one = {EventTime::latest(), State::ended};
    ++ended_;
    recompute();
}

void WatermarkMerge::begin_anew_at(const WatermarkMerge& before) {
    inputs_ = before.inputs_;
    active_ = before.active_;
    ended_ = before.ended_;
    watermark_ = before.watermark_;
    last_ = before.last_;
    before_anew_.clear();
    for (const Input& input : inputs_) before_anew_.push_back(input.time);
}

void WatermarkMerge::recompute() noexcept {
    if (all_idle()) return;  // it stays where it is: no input is active
    if (active_ == 0) {      // all have ended: the greatest watermark stands
        watermark_ = std::max(watermark_, last_);
        return;
    }
    EventTime least = EventTime::latest();
    for (const Input& input : inputs_) {
        const bool waited_for =
            input.state == State::active || (waits_for_idle_ && input.state == State::idle);
        if (waited_for) least = std::min(least, input.time);
    }
    // An input that woke may be behind: the watermark does not go back.
    watermark_ = std::max(watermark_, least);
}

}  // namespace strid
