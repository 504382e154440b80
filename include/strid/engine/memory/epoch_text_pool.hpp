// SPDX-License-Identifier: Apache-2.0
//
// Copies of texts that come and go, such as the keys of windows, while records in flight may still
// refer to them: epoch-based reclamation.
//
// Every batch that is sent during an epoch holds a reference to the epoch, as it holds the chunks
// with a source's texts, and passes it on to batches that are derived from it. A text that is
// retired during an epoch is freed once no batch holds this epoch or an earlier one. A text
// therefore needs no reference count, and a batch one reference for any number of texts.
//
// Threads: one at a time keeps and retires texts and begins epochs; references to epochs may be
// copied and dropped by any thread.
//
// Invariant: a text is live (kept and not retired), or in the epoch during which it was retired,
// unless that was after keep_for_good(). Epochs are in order, the last one is the present one;
// enough was retired in every other one to make it worth while. The number of epochs is at most
// epochs_max.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <strid/memory/slab_allocator.hpp>
#include <strid/memory/text_arena.hpp>

namespace strid::memory {

class EpochTextPool {
  public:
    /// May throw std::bad_alloc.
    EpochTextPool();

    /// A copy of the text. It lives until it is retired, and then until no batch of the epochs so
    /// far is left. O(size). May throw std::bad_alloc.
    [[nodiscard]] std::string_view keep(std::string_view text);

    /// The caller sends no more references to this copy. It may be read until the next
    /// advance_epoch().
    void retire(std::string_view kept);
    /// Instead of retire(), when nothing refers to this copy.
    void free(std::string_view kept) noexcept;

    /// Begins a new epoch if enough was retired, and frees the texts to which nothing can refer any
    /// more. Everything that is sent from now until the next call must hold the returned reference.
    /// O(texts freed). May throw std::bad_alloc.
    [[nodiscard]] const TextReference& advance_epoch();

    /// Texts retired from now on are not freed: for a caller that cannot hold the reference.
    void keep_for_good() noexcept { for_good_ = true; }

    /// Texts that are live or not freed yet.
    [[nodiscard]] std::size_t held() const noexcept { return texts_.counters().out(); }

    /// Checks the invariant above. O(texts held).
    [[nodiscard]] bool is_valid() const;

  private:
    /// Epochs that may be held at a time.
    static constexpr std::size_t epochs_max = 64;

    struct Epoch {
        TextReference reference;
        std::vector<char*> retired;
        std::size_t retired_bytes = 0;
    };
    void begin_epoch(TextReference reference);
    void free_texts_of(Epoch& epoch) noexcept;

    SlabAllocator texts_;
    TextPool epoch_references_;  // of empty chunks: only their reference counts matter
    std::vector<Epoch> epochs_;
    std::vector<std::vector<char*>> spares_;  // for the texts of later epochs
    bool for_good_ = false;
};

}  // namespace strid::memory
