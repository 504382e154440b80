// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <strid/engine/kernel/input_port.hpp>
#include <strid/state/codec.hpp>

namespace strid::operators {

InputPort::Received InputPort::receive() {
    return ordered_ ? receive_ordered() : receive_any();
}

InputPort::Received InputPort::receive_any() {
    for (std::size_t tried = 0; tried < open_.size();) {
        if (next_ >= open_.size()) next_ = 0;
        Link* link = open_[next_];
        memory::Block* batch = nullptr;
        switch (link->receive(batch)) {
            case channel::PopResult::ok:
                ++next_;
                return {batch, link};
            case channel::PopResult::empty:
                ++next_;
                ++tried;
                break;
            case channel::PopResult::closed:
                end(*link);
                open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(next_));
                break;
        }
    }
    return {};
}

InputPort::Received InputPort::receive_ordered() {
    for (std::size_t i = 0; i < open_.size();) {
        Link* link = open_[i];
        memory::Block* batch = link->front();
        if (batch == nullptr) {
            if (link->drained()) {
                end(*link);
                open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(i));
            } else {
                ++i;
            }
            continue;
        }
        const auto& header = message::header_of(*batch);
        if (!header.is_barrier) {
            if (header.sequence != expected_) {
                ++i;
                continue;
            }
            if (header.ends_sequence) ++expected_;
        }
        if (link->receive(batch) == channel::PopResult::ok) return {batch, link};
    }
    return {};
}

void InputPort::handled(const Link& link, const message::BatchHeader& header) {
    if (ordered_) {
        // Behind a snapshot the first ones may be below the one that was saved.
        last_ = {std::max(last_.watermark, header.progress.watermark), header.progress.idle};
    } else if (header.progress.idle) {
        merge_.set_idle(link.input());
    } else {
        merge_.update(link.input(), header.progress.watermark);
    }
}

// A barrier has the watermark of its sender, so that all replicas have the same where they save
// their states: the keys of one can then become another one's. In an ordered section the watermark
// belongs to the batches of the section, and a barrier has none.
void InputPort::hold(Link& link, const message::BatchHeader& barrier) {
    if (!ordered_ && barrier.progress.watermark >= merge_.watermark_of(link.input())) {
        handled(link, barrier);
    }
    std::erase(open_, &link);
    held_.push_back(&link);
}

void InputPort::release() {
    std::sort(held_.begin(), held_.end(),
              [](const Link* one, const Link* other) { return one->input() < other->input(); });
    open_.insert(open_.end(), held_.begin(), held_.end());
    held_.clear();
    next_ = 0;
}

// Not the place in the order: with the barrier all batches before it have arrived, and those behind
// it are numbered from 0 on.
void InputPort::save(StateWriter& writer) const {
    state::save(writer, merge_);
    state::save(writer, last_);
}

void InputPort::load(StateReader& reader) {
    const auto before = state::loaded<WatermarkMerge>(reader);
    const auto last = state::loaded<Progress>(reader);
    if (before.inputs() != merge_.inputs()) return begin_at(before, last);
    merge_.begin_anew_at(before);
    last_ = last;
}

void InputPort::load(StateReader& reader, const KeyShare& /*share*/) {
    const auto before = state::loaded<WatermarkMerge>(reader);
    begin_at(before, state::loaded<Progress>(reader));
}

/// Whether the stream was in order before does not matter: one of the two has its watermark.
void InputPort::begin_at(const WatermarkMerge& before, const Progress& last) {
    const EventTime watermark = std::max(before.watermark(), last.watermark);
    const bool idle = before.all_idle() || last.idle;
    for (std::size_t input = 0; input != merge_.inputs(); ++input) {
        merge_.update(input, std::max(watermark, merge_.watermark_of(input)));
        if (idle) merge_.set_idle(input);
    }
    merge_.begin_anew_at(merge_);
    last_ = {std::max(watermark, last_.watermark), idle};
}

bool InputPort::waiting() const noexcept {
    for (const Link* link : open_) {
        if (link->queued() != 0) return true;
    }
    return false;
}

}  // namespace strid::operators
