// SPDX-License-Identifier: Apache-2.0
//
// The state of a replica's shards: each is made when its first record comes. A copy is empty, as
// replicas are copied before they have seen a record. In a snapshot the shards are by key: another
// number of replicas shares them out anew. One thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>

#include <strid/base/hash.hpp>
#include <strid/engine/operator/key_groups.hpp>
#include <strid/state/codec.hpp>

#include "call.hpp"
#include "line_arena.hpp"

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

    void save(StateWriter& writer) const {
        for (const auto& shard : shards_) {
            writer.length(shard ? 1 : 0);
            if (shard) state::save(writer, *shard);
        }
    }
    /// Adds the shards of a share; `make(arena)` makes one, of others in an arena that goes.
    template <class Make>
    void load(StateReader& reader, const operators::KeyShare& share, LineArena& arena,
              const Make& make) {
        LineArena passing(0);
        for (std::uint32_t number = 0; number != shards; ++number) {
            if (reader.choice(2) == 0) continue;
            const bool is_mine = share.has(hash_of(number));
            auto shard = make(is_mine ? arena : passing);
            state::load(reader, *shard);
            if (!is_mine) continue;
            if (shards_[number]) reader.refuse("is of a shard that another replica has");
            shards_[number] = std::move(shard);
        }
    }

  private:
    std::array<std::unique_ptr<Shard>, shards> shards_;
};

/// The shards as a part of an operator's state. It refers to the table, and to the arena that they
/// lie in, which goes with them.
template <class Shard, class Make>
class SavedShards {
  public:
    /// `arena`: null where shards are in none.
    SavedShards(ShardTable<Shard>& table, LineArena* arena, Make make)
        : table_(&table), arena_(arena), make_(std::move(make)) {}
    SavedShards(const SavedShards&) = default;
    SavedShards(SavedShards&&) = default;
    SavedShards& operator=(const SavedShards&) = delete;
    SavedShards& operator=(SavedShards&& other) noexcept {
        *table_ = std::move(*other.table_);
        if (arena_ != nullptr) *arena_ = std::move(*other.arena_);
        return *this;
    }
    ~SavedShards() = default;

    void save(StateWriter& writer) const { table_->save(writer); }
    void load(StateReader& reader) { load(reader, operators::KeyShare{}); }
    void load(StateReader& reader, const operators::KeyShare& share) {
        LineArena none(0);
        table_->load(reader, share, arena_ != nullptr ? *arena_ : none, make_);
    }

  private:
    ShardTable<Shard>* table_;
    LineArena* arena_;
    Make make_;
};

/// For state(): the shards, which lie in the arena, are made of these parts.
template <class Shard, class First>
[[nodiscard]] auto saved_shards(ShardTable<Shard>& table, LineArena& arena, const First& first) {
    return std::make_tuple(SavedShards(table, &arena, [&first](LineArena& place) {
        return std::make_unique<Shard>(first, place);
    }));
}
/// The same of shards that are made of nothing.
template <class Shard>
[[nodiscard]] auto saved_shards(ShardTable<Shard>& table) {
    return std::make_tuple(
        SavedShards(table, nullptr, [](LineArena&) { return std::make_unique<Shard>(); }));
}

}  // namespace strid::apps::voip_stream
