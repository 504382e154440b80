// SPDX-License-Identifier: Apache-2.0
//
// The rows of a range, in order, with what keeps their texts alive. It is the emitter of the copy
// of a source that parses the range. Threads as in ParsedRange.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <strid/engine/connector/parsed_range.hpp>
#include <strid/memory/text_arena.hpp>

namespace strid {

template <class T>
class ParsedRows final : public ParsedRange {
  public:
    void forget_rows() noexcept override {
        rows_.clear();
        texts_.clear();
        emitted_ = texts_kept_ = 0;
    }

    // ---- an emitter ----

    bool operator()(T&& row) {
        rows_.push_back(std::move(row));
        return true;
    }
    void keep_alive(const memory::TextReference& text) { texts_.push_back({text, rows_.size()}); }

    // ---- the source ----

    /// How many rows have left.
    [[nodiscard]] std::size_t emitted() const noexcept { return emitted_; }
    /// Emits up to `budget` rows. True: all are out.
    template <bool holds_text, class Emit>
    bool emit_to(Emit& emit, std::size_t& budget) {
        if constexpr (holds_text) {
            if (texts_kept_ != 0) emit.keep_alive(texts_[texts_kept_ - 1].text);
        }
        while (emitted_ != rows_.size()) {
            if (budget == 0) return false;
            if constexpr (holds_text) {
                while (texts_kept_ != texts_.size() && texts_[texts_kept_].first_row <= emitted_) {
                    emit.keep_alive(texts_[texts_kept_++].text);
                }
            }
            --budget;
            if (!emit(std::move(rows_[emitted_++]))) return false;
        }
        return true;
    }

  private:
    struct Text {
        memory::TextReference text;
        std::size_t first_row;
    };

    std::vector<T> rows_;
    std::vector<Text> texts_;
    std::size_t emitted_ = 0;
    std::size_t texts_kept_ = 0;
};

}  // namespace strid
