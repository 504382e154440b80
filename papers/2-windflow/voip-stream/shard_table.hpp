// SPDX-License-Identifier: Apache-2.0
//
// The state of a replica's shards: each is made when its first record comes. A copy is empty, as
// replicas are copied before they have seen a record. One thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "call.hpp"

namespace strid::apps::voip_stream {

template <class Shard>
class ShardTable {
  public:
    ShardTable() = default;
    ShardTable(const ShardTable& /*other*/) noexcept {}
    ShardTable(ShardTable&&) noexcept = default;
    ~ShardTable() = default;
    ShardTable& operator=(const ShardTable&) = delete;
    ShardTable& operator=(ShardTable&&) noexcept = default;

    /// The shard, made of `parts` where there is none.
    template <class... Parts>
    [[nodiscard]] Shard& find_or_make(std::uint32_t shard, Parts&&... parts) {
        auto& one = shards_[shard];
        if (!one) [[unlikely]]
            one = std::make_unique<Shard>(std::forward<Parts>(parts)...);
        return *one;
    }
    /// Null where no record has come.
    [[nodiscard]] Shard* find(std::uint32_t shard) noexcept { return shards_[shard].get(); }
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (const auto& shard : shards_) {
            if (shard) visit(*shard);
        }
    }

  private:
    std::array<std::unique_ptr<Shard>, shards> shards_;
};

}  // namespace strid::apps::voip_stream
