// SPDX-License-Identifier: Apache-2.0
//
// The ways to manage the memory of a farm (farm.hpp) by name: how quotes travel (carriers.hpp,
// block_carriers.hpp), and the memory of results. Types only.
#pragma once

#include "block_carriers.hpp"
#include "carriers.hpp"
#include "farm.hpp"

namespace strid::apps::trading {

/// A farm's memory as a type.
template <class CarrierOfQuotes, class MemoryOfResults>
struct FarmMemory {
    using Carrier = CarrierOfQuotes;
    using Results = MemoryOfResults;
};

/// Calls `use(name, description, FarmMemory<...>{})` for each, in the order in which tables show
/// them.
template <class Use>
void for_each_memory(Use&& use) {
    using memory::SlabAllocator;
    using memory::StandardMemory;
    using memory::StaticArena;
    use("static", "wrapper, memory preallocated for the whole stream",
        FarmMemory<ByWrapper<Quote, StaticArena>, StaticArena>{});
    use("copy", "a copy for each worker, slab allocator",
        FarmMemory<ByCopy<Quote>, SlabAllocator>{});
    use("wrapper", "wrapper, standard allocator",
        FarmMemory<ByWrapper<Quote, StandardMemory>, StandardMemory>{});
    use("wrapper-slab", "wrapper, slab allocator",
        FarmMemory<ByWrapper<Quote, SlabAllocator>, SlabAllocator>{});
    use("shared_ptr", "std::make_shared, standard allocator",
        FarmMemory<BySharedPointer<Quote>, StandardMemory>{});
    use("shared_ptr-static", "std::allocate_shared, preallocated memory",
        FarmMemory<ByStaticSharedPointer<Quote>, StaticArena>{});
    use("static-block", "blocks, preallocated", FarmMemory<ByStaticBlock<Quote>, StaticArena>{});
    use("block", "blocks of a pool, in the same threads",
        FarmMemory<ByBlock<Quote>, SlabAllocator>{});
}

}  // namespace strid::apps::trading
