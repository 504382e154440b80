// SPDX-License-Identifier: Apache-2.0
#include <strid/engine/base/reloads.hpp>

namespace strid::detail {

Reloads& Reloads::of_process() {
    static Reloads all;
    return all;
}

void Reloads::Entry::add(std::string name, Prepare prepare) {
    Reloads& all = of_process();
    const std::lock_guard lock(all.mutex_);
    number_ = ++all.last_;
    all.entries_.emplace(number_, std::pair(std::move(name), std::move(prepare)));
}

Reloads::Entry::~Entry() {
    if (number_ == 0) return;
    Reloads& all = of_process();
    const std::lock_guard lock(all.mutex_);
    all.entries_.erase(number_);
}

std::vector<std::string> Reloads::change(
    const std::vector<std::pair<std::string, std::string>>& values,
    const std::function<void()>& then) {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> unknown;
    std::vector<Change> changes;
    for (const auto& [name, value] : values) {
        const std::size_t before = changes.size();
        for (const auto& [number, entry] : entries_) {
            if (entry.first == name) changes.push_back(entry.second(value));
        }
        if (changes.size() == before) unknown.push_back(name);
    }
    then();
    for (const Change& change : changes) change();
    return unknown;
}

}  // namespace strid::detail
