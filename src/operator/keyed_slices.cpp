// SPDX-License-Identifier: Apache-2.0
#include <unordered_set>
#include <utility>

#include <strid/engine/operator/early_states.hpp>
#include <strid/engine/operator/keyed_slices.hpp>

namespace strid::operators {

KeyedSliceBytes::KeyedSliceBytes(bool keeps_order)
    : keeps_order_(keeps_order),
      places_(place_bytes_),
      entries_(entry_bytes_),
      early_(early_bytes_) {}

KeyedSliceBytes::~KeyedSliceBytes() = default;

void KeyedSliceBytes::begin_changes(std::size_t forgotten_keys, StateBytes forgotten) {
    has_changes_only_ = true;
    forgotten_keys_ = forgotten_keys;
    forgotten_ = std::move(forgotten);
}

void KeyedSliceBytes::add_early_key() {
    ++early_keys_;
    places_.number(place_);
}

StateBytes KeyedSliceBytes::take() {
    StateBytes all;
    StateWriter head(all);
    if (!has_changes_only_) {
        head.length(1);
    } else if (!keeps_order_) {
        head.length(forgotten_keys_);
        head.flush();
        all.add(std::move(forgotten_));
    }
    head.length(keeps_order_ ? place_ : place_ + early_states_);
    if (keeps_order_) head.length(early_keys_);
    head.flush();
    places_.flush();
    entries_.flush();
    early_.flush();
    all.add(std::move(place_bytes_));
    all.add(std::move(entry_bytes_));
    all.add(std::move(early_bytes_));
    return all;
}

struct EarlyStates::Awaited {
    std::unordered_set<const void*> entries;
};

EarlyStates::EarlyStates(StateReader& reader, bool are_apart)
    : count_(are_apart ? reader.length(sizeof(std::uint64_t)) : 0),
      left_(count_),
      places_(reader.bytes(count_ * sizeof(std::uint64_t))),
      awaited_(std::make_unique<Awaited>()) {
    next();
}

EarlyStates::~EarlyStates() = default;

void EarlyStates::await(const void* entry) {
    awaited_->entries.insert(entry);
}

bool EarlyStates::arrives(const void* entry) {
    return awaited_->entries.erase(entry) != 0;
}

bool EarlyStates::is_next(std::uint64_t place) {
    if (!has_next_ || place != next_) return false;
    next();
    return true;
}

void EarlyStates::next() {
    has_next_ = left_ != 0;
    if (!has_next_) return;
    next_ = places_.number();
    --left_;
}

}  // namespace strid::operators
