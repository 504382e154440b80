// SPDX-License-Identifier: Apache-2.0
//
// Keys of several columns as words: bits of what is NULL, then for each column one word, or two for
// a text. Equal keys have equal words, except for long texts, of which the words have the size, the
// first four bytes and a pointer. Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <strid/state/bytes.hpp>
#include <strid/table/chunk.hpp>
#include <strid/table/schema.hpp>

namespace strid::table {

/// A text in two words: up to 12 bytes lie in them, others where they point to. Zeros are the empty
/// text.
struct TextWords {
    static constexpr std::size_t near_max = 12;

    std::uint64_t words[2] = {0, 0};

    /// Points to a long text.
    [[nodiscard]] static TextWords of(std::string_view text) noexcept;
    /// With a copy of its own of a long text.
    [[nodiscard]] static TextWords owned(std::string_view text);
    [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::uint32_t>(words[0]); }
    [[nodiscard]] bool is_near() const noexcept { return size() <= near_max; }
    [[nodiscard]] std::string_view text() const noexcept;
    /// Frees the copy.
    void release() noexcept;
    [[nodiscard]] friend bool operator==(const TextWords& one, const TextWords& other) noexcept {
        if (one.words[0] != other.words[0]) return false;
        return one.words[1] == other.words[1] || (!one.is_near() && one.text() == other.text());
    }
};

/// The bits of a value by which equal values are equal: NaNs are one value, and so are zeros.
[[nodiscard]] std::uint64_t word_of(double value) noexcept;

/// The columns of a key, and what is done with its words.
class KeyRows {
  public:
    /// Throws GraphError for a column that is not there, or there twice.
    KeyRows(const std::vector<std::string>& columns, const Schema& schema);

    [[nodiscard]] std::size_t words() const noexcept { return words_; }
    /// Of the columns, in their order.
    [[nodiscard]] const std::vector<Field>& fields() const noexcept { return fields_; }
    /// The words of the keys of all rows, one key behind the other, and their hashes. The words
    /// point to long texts of the chunk.
    void read(const Chunk& chunk, std::uint64_t* keys, std::uint64_t* hashes) const noexcept;
    [[nodiscard]] bool same(const std::uint64_t* one, const std::uint64_t* other) const noexcept {
        if (!texts_.empty()) return same_texts(one, other);
        for (std::size_t i = 0; i != words_; ++i) {
            if (one[i] != other[i]) return false;
        }
        return true;
    }
    /// Gives the words copies of their own of long texts, and frees these.
    void own(std::uint64_t* key) const;
    void release(std::uint64_t* key) const noexcept;

    /// Bytes of the texts of a key.
    [[nodiscard]] std::size_t text_bytes(const std::uint64_t* key) const noexcept;
    /// Writes the key to the first columns of a row. Texts are copied to `to`, which then is behind
    /// them.
    void write(const std::uint64_t* key, Chunk& chunk, std::size_t row, char*& to) const noexcept;
    void save(StateWriter& writer, const std::uint64_t* key) const;
    /// With texts of its own, and its hash. Throws StateError.
    [[nodiscard]] std::uint64_t load(StateReader& reader, std::uint64_t* key) const;

  private:
    struct Part {
        std::size_t column;
        Kind kind;
        std::size_t word;
    };

    [[nodiscard]] std::uint64_t hash_of(const std::uint64_t* key) const noexcept;
    [[nodiscard]] bool same_texts(const std::uint64_t* one,
                                  const std::uint64_t* other) const noexcept;
    [[nodiscard]] static bool is_null(const std::uint64_t* key, std::size_t part) noexcept {
        return (key[part / 64] >> (part % 64) & 1) != 0;
    }

    std::vector<Part> parts_;
    std::vector<std::size_t> texts_;  // their words
    std::vector<Field> fields_;
    std::size_t null_words_;
    std::size_t words_;
};

}  // namespace strid::table
