// SPDX-License-Identifier: Apache-2.0
//
// The owner's half of the slab allocator: slabs, their lists, and memory on its way home. The
// header has the invariant.
#include <algorithm>
#include <new>
#include <utility>

#include <strid/memory/slab_allocator.hpp>

namespace strid::memory {

namespace detail {

// The header of a slab, at the slab's first byte. A large piece of memory has only the first two
// lines of it.
struct alignas(cache_line_bytes) Slab {
    // Line 0: touched whenever a chunk comes home.
    std::uint32_t chunk_bytes = 0;  // 0: a large piece
    std::uint32_t first_offset = 0;
    std::uint32_t reciprocal = 0;  // ceil(2^32 / chunk_bytes)
    std::uint32_t chunk_count = 0;
    std::uint32_t in_use = 0;
    std::uint32_t class_index = 0;
    bool current = false;
    SlabAllocator* home = nullptr;
    Slab* next = nullptr;  // in the list of its class it is in, if any
    Slab* previous = nullptr;
    // Line 1: links in the list of all slabs or all large pieces.
    alignas(cache_line_bytes) Slab* next_of_all = nullptr;
    Slab* previous_of_all = nullptr;
    std::size_t large_bytes = 0;  // usable, from first_offset on
    std::size_t large_alignment = 0;
    // Lines 2 to 9: a set bit is a free chunk that no size class has in hand.
    alignas(cache_line_bytes) std::array<std::uint64_t, 64> free_bits{};

    [[nodiscard]] std::byte* bytes() noexcept { return reinterpret_cast<std::byte*>(this); }

    // Exact for every offset within a slab: the rounding of the reciprocal adds less than
    // 2^16 * 2^12 / 2^32 = 1/16 of a chunk.
    [[nodiscard]] std::size_t index_of(std::size_t offset) const noexcept {
        return static_cast<std::size_t>((std::uint64_t{offset - first_offset} * reciprocal) >> 32);
    }

    static Slab* of(const void* memory) noexcept {
        return reinterpret_cast<Slab*>(reinterpret_cast<std::uintptr_t>(memory) &
                                       ~(SlabAllocator::slab_bytes - 1));
    }
};

}  // namespace detail

namespace {

using detail::Slab;
using detail::SlabList;

constexpr std::size_t large_header_bytes = 2 * cache_line_bytes;
static_assert(offsetof(Slab, free_bits) == large_header_bytes);
static_assert(sizeof(Slab) == 10 * cache_line_bytes);
static_assert(SlabAllocator::slab_bytes / SizeClasses::step_bytes <= 64 * 64, "a bit per chunk");

// The size that a slab requests from operator new: a little less than its own, so that
// general-purpose allocators that put a header in front of their memory can lay slabs side by side.
constexpr std::size_t slab_request_bytes = SlabAllocator::slab_bytes - cache_line_bytes;
constexpr std::align_val_t slab_alignment{SlabAllocator::slab_bytes};

template <Slab* Slab::*next, Slab* Slab::*previous>
void push_back(SlabList& list, Slab* slab) noexcept {
    slab->*next = nullptr;
    slab->*previous = list.last;
    (list.last == nullptr ? list.first : list.last->*next) = slab;
    list.last = slab;
    ++list.count;
}

template <Slab* Slab::*next, Slab* Slab::*previous>
void remove(SlabList& list, Slab* slab) noexcept {
    (slab->*previous == nullptr ? list.first : slab->*previous->*next) = slab->*next;
    (slab->*next == nullptr ? list.last : slab->*next->*previous) = slab->*previous;
    --list.count;
}

constexpr auto push_in_class = push_back<&Slab::next, &Slab::previous>;
constexpr auto remove_in_class = remove<&Slab::next, &Slab::previous>;
constexpr auto push_in_all = push_back<&Slab::next_of_all, &Slab::previous_of_all>;
constexpr auto remove_in_all = remove<&Slab::next_of_all, &Slab::previous_of_all>;

constexpr std::size_t round_up(std::size_t value, std::size_t power_of_two) noexcept {
    return (value + power_of_two - 1) & ~(power_of_two - 1);
}

void release_list(const SlabList& list) noexcept {
    for (Slab* slab = list.first; slab != nullptr;) {
        Slab* const next = slab->next_of_all;
        ::operator delete(slab, slab_alignment);
        slab = next;
    }
}

}  // namespace

SlabAllocator::SlabAllocator(Options options) : cached_slabs_(options.cached_slabs) {
    for (std::size_t index = 0; index < classes_.size(); ++index) {
        classes_[index].index = index;
        classes_[index].chunk_bytes = SizeClasses::bytes_of(index);
    }
    for (std::size_t lane = 0; lane < options.lanes; ++lane) {
        lanes_.push_back(std::make_unique<FreeLane<>>(options.lane_slots));
    }
}

SlabAllocator::~SlabAllocator() {
    STRID_PARANOID(is_valid());
    release_list(all_slabs_);
    release_list(all_large_);
}

Slab* SlabAllocator::acquire_slab(SizeClass& size_class) {
    Slab* const slab = new (::operator new(slab_request_bytes, slab_alignment)) Slab;
    const std::size_t chunk_bytes = size_class.chunk_bytes;
    const std::size_t natural_alignment = chunk_bytes & (~chunk_bytes + 1);
    const std::size_t first = round_up(sizeof(Slab), natural_alignment);
    const std::size_t count = (slab_request_bytes - first) / chunk_bytes;
    slab->chunk_bytes = static_cast<std::uint32_t>(chunk_bytes);
    slab->first_offset = static_cast<std::uint32_t>(first);
    slab->reciprocal =
        static_cast<std::uint32_t>(((std::uint64_t{1} << 32) + chunk_bytes - 1) / chunk_bytes);
    slab->chunk_count = static_cast<std::uint32_t>(count);
    slab->class_index = static_cast<std::uint32_t>(size_class.index);
    slab->home = this;
    for (std::size_t word = 0; word < count / 64; ++word) slab->free_bits[word] = ~std::uint64_t{0};
    if (count % 64 != 0) slab->free_bits[count / 64] = (std::uint64_t{1} << count % 64) - 1;
    push_in_all(all_slabs_, slab);
    slabs_acquired_.add();
    tallies_.misses.add();
    return slab;
}

void SlabAllocator::give_back(Slab* slab) noexcept {
    remove_in_all(all_slabs_, slab);
    slabs_given_back_.add();
    ::operator delete(slab, slab_alignment);
}

// Takes the next word of the current slab that has a free chunk; false when there is none above the
// present position.
bool SlabAllocator::take_word(SizeClass& size_class) noexcept {
    Slab* const slab = size_class.current;
    if (slab == nullptr) return false;
    const std::size_t words = (std::size_t{slab->chunk_count} + 63) / 64;
    for (; size_class.next_word < words; ++size_class.next_word) {
        const std::uint64_t word = std::exchange(slab->free_bits[size_class.next_word], 0);
        if (word == 0) continue;
        slab->in_use += static_cast<std::uint32_t>(std::popcount(word));
        size_class.word = word;
        size_class.word_base =
            slab->bytes() + slab->first_offset + size_class.next_word * 64 * size_class.chunk_bytes;
        ++size_class.next_word;
        return true;
    }
    return false;
}

void SlabAllocator::refill(SizeClass& size_class) {
    if (take_word(size_class)) return;
    collect();
    Slab* const slab = next_slab(size_class);
    retire_current(size_class);
    slab->current = true;
    size_class.current = slab;
    size_class.next_word = 0;
    [[maybe_unused]] const bool found = take_word(size_class);
    STRID_ASSERT(found);
}

// Moves the current slab to the place that its count gives.
void SlabAllocator::retire_current(SizeClass& size_class) noexcept {
    Slab* const slab = std::exchange(size_class.current, nullptr);
    if (slab == nullptr) return;
    slab->current = false;
    if (slab->in_use == 0) {
        settle(slab);
    } else if (slab->in_use < slab->chunk_count) {
        push_in_class(size_class.partial, slab);
    }
}

// Partly free slabs first, the one that has waited longest before others: it has the most free
// chunks. Then the current one once more, which is hot in the cache; then a cached one; then a new
// one.
Slab* SlabAllocator::next_slab(SizeClass& size_class) {
    if (Slab* const slab = size_class.partial.first) {
        remove_in_class(size_class.partial, slab);
        return slab;
    }
    if (Slab* const slab = size_class.current;
        slab != nullptr && slab->in_use < slab->chunk_count) {
        size_class.current = nullptr;
        return slab;
    }
    if (Slab* const slab = size_class.empty.first) {
        remove_in_class(size_class.empty, slab);
        return slab;
    }
    return acquire_slab(size_class);
}

// An empty slab, in no list, is cached or given back.
void SlabAllocator::settle(Slab* slab) noexcept {
    SizeClass& size_class = classes_[slab->class_index];
    if (size_class.empty.count < cached_slabs_) {
        push_in_class(size_class.empty, slab);
    } else {
        give_back(slab);
    }
}

// The place of one small object: a run of one.
inline SlabAllocator::Run SlabAllocator::find(Slab* slab, void* memory) noexcept {
    const auto offset = static_cast<std::size_t>(static_cast<std::byte*>(memory) - slab->bytes());
    const std::size_t index = slab->index_of(offset);
    const std::uint64_t bit = std::uint64_t{1} << index % 64;
    STRID_PARANOID(slab->first_offset + index * slab->chunk_bytes == offset);
    return {slab, index / 64, bit};
}

void SlabAllocator::take_home(const Run& run) noexcept {
    Slab* const slab = run.slab;
    STRID_ASSERT(slab->home == this);
    STRID_ASSERT((slab->free_bits[run.word] & run.bits) == 0);  // freed twice
    slab->free_bits[run.word] |= run.bits;
    const bool was_full = slab->in_use == slab->chunk_count;
    slab->in_use -= static_cast<std::uint32_t>(std::popcount(run.bits));
    if (slab->current) return;
    SizeClass& size_class = classes_[slab->class_index];
    if (was_full) push_in_class(size_class.partial, slab);
    if (slab->in_use == 0) {
        remove_in_class(size_class.partial, slab);
        settle(slab);
    }
}

void SlabAllocator::give_back_large(Slab* large) noexcept {
    STRID_ASSERT(large->home == this);
    remove_in_all(all_large_, large);
    large_given_back_.add();
    ::operator delete(large, slab_alignment);
}

void SlabAllocator::collect() noexcept {
    std::size_t taken = 0;
    Run run;
    for (const auto& lane : lanes_) {
        taken += lane->take_all([this, &run](void* memory) {
            Slab* const slab = Slab::of(memory);
            if (slab->chunk_bytes == 0) [[unlikely]]
                return give_back_large(slab);
            const Run one = find(slab, memory);
            if (one.slab == run.slab && one.word == run.word) {
                STRID_ASSERT((run.bits & one.bits) == 0);  // freed twice
                run.bits |= one.bits;
            } else {
                if (run.slab != nullptr) take_home(run);
                run = one;
            }
        });
    }
    if (run.slab != nullptr) take_home(run);
    if (taken != 0) tallies_.count_returned(taken);
}

void SlabAllocator::deallocate_local(void* memory) noexcept {
    if (memory == nullptr) return;
    tallies_.count_returned();
    Slab* const slab = Slab::of(memory);
    if (slab->chunk_bytes == 0) [[unlikely]]
        return give_back_large(slab);
    take_home(find(slab, memory));
}

void* SlabAllocator::allocate_unusual(std::size_t bytes, std::size_t alignment) {
    STRID_ASSERT(std::has_single_bit(alignment));
    if (bytes <= small_bytes_max && alignment <= alignment_max) {
        const std::size_t index = SizeClasses::index_of(bytes, alignment);
        if (index < SizeClasses::count) return allocate_from(classes_[index]);
    }
    return allocate_large(bytes, alignment);
}

void* SlabAllocator::allocate_large(std::size_t bytes, std::size_t alignment) {
    // The memory must begin within the first slab_bytes, or masking would not find the header.
    if (alignment > slab_bytes / 2 || bytes > SIZE_MAX / 2) throw std::bad_alloc{};
    collect();
    bytes = std::max(bytes, SizeClasses::step_bytes);  // on its way home it holds a pointer
    const std::size_t first = std::max(large_header_bytes, alignment);
    void* const memory = ::operator new(std::max(first + bytes, sizeof(Slab)), slab_alignment);
    Slab* const slab = new (memory) Slab;
    slab->home = this;
    slab->first_offset = static_cast<std::uint32_t>(first);
    slab->large_bytes = bytes;
    slab->large_alignment = alignment;
    push_in_all(all_large_, slab);
    large_acquired_.add();
    tallies_.misses.add();
    tallies_.leased.add();
    return slab->bytes() + first;
}

SlabUsage SlabAllocator::usage() const noexcept {
    SlabUsage usage;
    usage.slabs_given_back = slabs_given_back_.value();
    usage.slabs_acquired = std::max(slabs_acquired_.value(), usage.slabs_given_back);
    usage.large_given_back = large_given_back_.value();
    usage.large_acquired = std::max(large_acquired_.value(), usage.large_given_back);
    return usage;
}

std::size_t SlabAllocator::usable_bytes(const void* memory) noexcept {
    const Slab* const slab = Slab::of(memory);
    return slab->chunk_bytes == 0 ? slab->large_bytes : slab->chunk_bytes;
}

bool SlabAllocator::is_class_valid(const SizeClass& size_class, std::size_t& in_hand) const {
    in_hand += static_cast<std::size_t>(std::popcount(size_class.word));
    if (size_class.word != 0 && size_class.current == nullptr) return false;
    if (size_class.empty.count > cached_slabs_) return false;
    std::size_t partial = 0;
    for (const Slab* slab = size_class.partial.first; slab != nullptr; slab = slab->next) {
        if (slab->current || slab->in_use == 0 || slab->in_use == slab->chunk_count) return false;
        if (slab->class_index != size_class.index || ++partial > size_class.partial.count) {
            return false;
        }
    }
    std::size_t empty = 0;
    for (const Slab* slab = size_class.empty.first; slab != nullptr; slab = slab->next) {
        if (slab->current || slab->in_use != 0 || slab->class_index != size_class.index ||
            ++empty > size_class.empty.count) {
            return false;
        }
    }
    return partial == size_class.partial.count && empty == size_class.empty.count;
}

bool SlabAllocator::is_valid() const {
    std::size_t in_hand = 0;
    std::size_t listed = 0;
    std::size_t expected_in_lists = 0;
    std::size_t in_use = 0;
    for (const SizeClass& size_class : classes_) {
        if (!is_class_valid(size_class, in_hand)) return false;
        listed += size_class.partial.count + size_class.empty.count;
    }
    std::size_t slabs = 0;
    for (const Slab* slab = all_slabs_.first; slab != nullptr; slab = slab->next_of_all, ++slabs) {
        std::size_t free_chunks = 0;
        for (const std::uint64_t word : slab->free_bits) {
            free_chunks += static_cast<std::size_t>(std::popcount(word));
        }
        if (slab->home != this || slab->in_use + free_chunks != slab->chunk_count) return false;
        if (slab->current != (classes_[slab->class_index].current == slab)) return false;
        if (!slab->current && free_chunks != 0) ++expected_in_lists;
        in_use += slab->in_use;
    }
    std::size_t in_lanes = 0;
    for (const auto& lane : lanes_) {
        if (!lane->is_valid()) return false;
        lane->for_each_quiescent([&](void*) { ++in_lanes; });
    }
    const std::uint64_t out = tallies_.out();
    return slabs == all_slabs_.count && listed == expected_in_lists &&
           in_use - in_hand + all_large_.count == out && in_lanes <= out &&
           usage().slabs_held() == slabs &&
           large_acquired_.value() - large_given_back_.value() == all_large_.count;
}

}  // namespace strid::memory
