// SPDX-License-Identifier: Apache-2.0
//
// The regions of a static arena; the header has the invariant.
#include <algorithm>
#include <cstring>
#include <new>

#include <strid/memory/static_arena.hpp>

namespace strid::memory {

namespace {

constexpr std::align_val_t region_alignment{64};

}  // namespace

StaticArena::StaticArena(Options options) : growth_bytes_(options.growth_bytes) {
    if (options.capacity_bytes == 0 && growth_bytes_ != 0) return;
    add_region(options.capacity_bytes);
    if (options.prefault) std::memset(regions_.back().memory, 0, regions_.back().bytes);
}

StaticArena::~StaticArena() {
    STRID_PARANOID(is_valid());
    for (const Region& region : regions_) ::operator delete(region.memory, region_alignment);
}

void StaticArena::add_region(std::size_t bytes) {
    regions_.reserve(regions_.size() + 1);
    auto* const memory = static_cast<std::byte*>(::operator new(bytes, region_alignment));
    regions_.push_back({memory, bytes});
    next_ = reinterpret_cast<std::uintptr_t>(memory);
    end_ = next_ + bytes;
    bytes_held_ += bytes;
    STRID_PARANOID(is_valid());
}

void* StaticArena::try_grow(std::size_t bytes, std::size_t alignment) noexcept {
    tallies_.misses.add();
    if (growth_bytes_ == 0 || bytes > SIZE_MAX - alignment) return nullptr;
    try {
        add_region(std::max(growth_bytes_, bytes + alignment));
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
    return try_allocate(bytes, alignment);
}

void* StaticArena::allocate(std::size_t bytes, std::size_t alignment) {
    void* const memory = try_allocate(bytes, alignment);
    if (memory == nullptr) throw std::bad_alloc{};
    return memory;
}

std::string_view StaticArena::intern(std::string_view text) {
    if (text.empty()) return {};
    auto* const copy = static_cast<char*>(allocate(text.size(), 1));
    std::memcpy(copy, text.data(), text.size());
    return {copy, text.size()};
}

bool StaticArena::is_valid() const noexcept {
    std::size_t held = 0;
    for (const Region& region : regions_) held += region.bytes;
    if (held != bytes_held_ || next_ > end_ || (growth_bytes_ == 0 && regions_.size() != 1)) {
        return false;
    }
    if (regions_.empty()) return next_ == 0 && end_ == 0;
    const auto first = reinterpret_cast<std::uintptr_t>(regions_.back().memory);
    return first <= next_ && end_ == first + regions_.back().bytes;
}

}  // namespace strid::memory
