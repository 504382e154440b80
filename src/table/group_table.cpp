// SPDX-License-Identifier: Apache-2.0
#include "group_table.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include <strid/base/error.hpp>

namespace strid::table {

namespace {

constexpr std::size_t page_bytes = std::size_t{64} << 10;
constexpr std::size_t first_slots = 64;

}  // namespace

RecordPool::RecordPool(std::size_t bytes)
    : bytes_(std::max<std::size_t>(bytes, sizeof(std::uint64_t))),
      page_bits_(static_cast<unsigned>(
          std::bit_width(std::max<std::size_t>(page_bytes / bytes_, 1)) - 1)) {}

std::byte* RecordPool::make(std::uint32_t& number) {
    if (free_ != 0) {
        number = free_;
        std::memcpy(&free_, at(number), sizeof free_);
    } else {
        if (made_ == std::numeric_limits<std::uint32_t>::max()) {
            throw Error("a window has more than 4 G groups");
        }
        if (made_ >> page_bits_ == pages_.size()) {
            pages_.push_back(std::make_unique_for_overwrite<std::byte[]>(bytes_ << page_bits_));
        }
        number = ++made_;
    }
    std::byte* const record = at(number);
    std::memset(record, 0, bytes_);
    return record;
}

void RecordPool::free(std::uint32_t number) noexcept {
    std::memcpy(at(number), &free_, sizeof free_);
    free_ = number;
}

GroupTable::GroupTable(std::shared_ptr<const KeyRows> keys, std::size_t state_bytes,
                       bool borrows_texts)
    : keys_(std::move(keys)),
      state_at_(sizeof(Group) + keys_->words() * sizeof(std::uint64_t)),
      borrows_texts_(borrows_texts),
      pool_(state_at_ + state_bytes),
      slots_(first_slots),
      mask_(first_slots - 1) {}

GroupTable::~GroupTable() {
    clear();
}

Group* GroupTable::add(std::uint64_t hash, std::int64_t place) {
    if ((size_ + 1) * 2 > slots_.size()) grow();
    std::uint32_t number = 0;
    auto* const group = reinterpret_cast<Group*>(pool_.make(number));
    group->hash = hash;
    group->place = place;
    group->number = number;
    insert({tag_of(hash, place), number});
    ++size_;
    return group;
}

void GroupTable::copy_key(Group* group, const std::uint64_t* key) {
    std::copy_n(key, keys_->words(), group->key());
    if (borrows_texts_) return;
    try {
        keys_->own(group->key());
    } catch (...) {  // memory is short: it has no texts to free
        std::fill_n(group->key(), keys_->words(), std::uint64_t{0});
        throw;
    }
}

Group* GroupTable::adopt(std::uint64_t hash, std::int64_t place, const std::uint64_t* key) {
    Group* const group = add(hash, place);
    std::copy_n(key, keys_->words(), group->key());
    return group;
}

void GroupTable::insert(Slot slot) noexcept {
    std::size_t at = slot.tag & mask_;
    while (slots_[at].number != 0) at = (at + 1) & mask_;
    slots_[at] = slot;
}

void GroupTable::grow() {
    std::vector<Slot> before(slots_.size() * 2);
    before.swap(slots_);
    mask_ = slots_.size() - 1;
    for (const Slot& slot : before) {
        if (slot.number != 0) insert(slot);
    }
}

// Slots behind it move towards their own places, so that no search ends too early.
void GroupTable::erase(Group* group) noexcept {
    const std::uint32_t tag = tag_of(group->hash, group->place);
    std::size_t hole = tag & mask_;
    while (slots_[hole].number != group->number) hole = (hole + 1) & mask_;
    for (std::size_t at = (hole + 1) & mask_; slots_[at].number != 0; at = (at + 1) & mask_) {
        const std::size_t from_home = (at - (slots_[at].tag & mask_)) & mask_;
        if (from_home < ((at - hole) & mask_)) continue;
        slots_[hole] = slots_[at];
        hole = at;
    }
    slots_[hole] = {};
    if (!borrows_texts_) keys_->release(group->key());
    pool_.free(group->number);
    --size_;
}

void GroupTable::clear() noexcept {
    if (size_ == 0) return;
    for (Slot& slot : slots_) {
        if (slot.number == 0) continue;
        if (!borrows_texts_) keys_->release(at_number(slot.number)->key());
        pool_.free(slot.number);
        slot = {};
    }
    size_ = 0;
}

}  // namespace strid::table
