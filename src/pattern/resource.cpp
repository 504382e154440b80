// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <strid/base/error.hpp>
#include <strid/pattern/resource.hpp>

namespace strid::pattern {

Resource::Resource(std::size_t at_once) : state_(std::make_shared<State>(at_once)) {
    if (at_once == 0) throw GraphError("a resource that no node may use stops every pattern");
}

std::size_t Resource::free() const {
    return state_->free();
}

std::size_t Resource::State::free() const {
    const std::lock_guard lock(mutex_);
    return free_;
}

std::deque<Resource::State::Waiting>::iterator Resource::State::find(
    const runtime::Task& node) noexcept {
    return std::ranges::find(waiting_, &node, &Waiting::node);
}

bool Resource::State::try_take(runtime::Task& node) {
    const std::lock_guard lock(mutex_);
    const auto mine = find(node);
    if (mine != waiting_.end()) {
        if (!mine->granted) return false;
        waiting_.erase(mine);
        return true;
    }
    // One that is free is kept for no other.
    if (free_ > 0) {
        --free_;
        return true;
    }
    waiting_.push_back({&node, false});
    return false;
}

void Resource::State::give_back() noexcept {
    const std::lock_guard lock(mutex_);
    hand_on();
}

void Resource::State::forget(const runtime::Task& node) noexcept {
    const std::lock_guard lock(mutex_);
    const auto mine = find(node);
    if (mine == waiting_.end()) return;
    const bool granted = mine->granted;
    waiting_.erase(mine);
    if (granted) hand_on();
}

// With the mutex.
void Resource::State::hand_on() noexcept {
    const auto next = std::ranges::find(waiting_, false, &Waiting::granted);
    if (next == waiting_.end()) {
        ++free_;
        return;
    }
    next->granted = true;
    next->node->notify();
}

}  // namespace strid::pattern
