// SPDX-License-Identifier: Apache-2.0
//
// Copies of texts that come and go, such as the keys of windows, while records on their way may
// still point to them.
//
// Time passes in turns. Every batch that is sent during a turn holds a reference to it, as it holds
// the chunks that a source's texts lie in, and hands it on to what is derived from it. A text that
// is retired during a turn is freed once nobody else holds this turn or one before it. So a text
// needs no count of its own, and a batch one reference for however many of them.
//
// Threads: one at a time keeps, retires and turns; references to turns may be copied and dropped
// anywhere.
//
// Law: a text is live (kept and not retired) or lies in the turn during which it was retired,
// unless that was after keep_for_good(); turns stand in their order, the last one is the present
// one; every other one retired enough to be worth a turn. No more turns than turns_max.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <strid/memory/slab_allocator.hpp>
#include <strid/memory/text_arena.hpp>

namespace strid::memory {

class PassingTexts {
  public:
    /// May throw std::bad_alloc.
    PassingTexts();

    /// A copy of the text, which lives until it is retired and longer, while any batch of the turns
    /// up to then does. O(size). May throw std::bad_alloc.
    [[nodiscard]] std::string_view keep(std::string_view text);

    /// Nobody points to this copy who does not do so now. It may be read until the next turn().
    void retire(std::string_view kept);
    /// Nobody points to this copy: instead of retire().
    void free(std::string_view kept) noexcept;

    /// Begins a new turn where it is worth one, and frees what nobody can point to any more. The
    /// reference is what has to be held by all that is sent from now until this is called again.
    /// O(texts freed). May throw std::bad_alloc.
    [[nodiscard]] const TextReference& turn();

    /// What is retired from now on is not freed: the way out for who cannot hold the reference.
    void keep_for_good() noexcept { for_good_ = true; }

    /// Texts that are live or not freed yet.
    [[nodiscard]] std::size_t held() const noexcept { return texts_.counters().out(); }

    /// The law above. O(texts held).
    [[nodiscard]] bool is_valid() const;

  private:
    /// Turns that may be held at a time.
    static constexpr std::size_t turns_max = 64;

    struct Turn {
        TextReference reference;
        std::vector<char*> retired;
        std::size_t retired_bytes = 0;
    };
    void begin_turn(TextReference reference);
    void free_texts_of(Turn& turn) noexcept;

    SlabAllocator texts_;
    TextPool turns_pool_;  // of empty chunks: what counts is who holds them
    std::vector<Turn> turns_;
    std::vector<std::vector<char*>> spares_;  // for the texts of turns to come
    bool for_good_ = false;
};

}  // namespace strid::memory
