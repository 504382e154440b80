// SPDX-License-Identifier: Apache-2.0
#include "key_rows.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/base/hash.hpp>
#include <strid/state/codec.hpp>

#include "decimal.hpp"

namespace strid::table {

namespace {

using strid::detail::fold_multiply;
using strid::detail::hash_secret;

std::uint64_t mixed(std::uint64_t word, std::uint64_t hash) noexcept {
    return fold_multiply(word ^ hash_secret[1], hash ^ hash_secret[2]);
}

std::uint64_t hash_of_text(const TextWords& text, std::uint64_t hash) noexcept {
    if (text.is_near()) return mixed(text.words[1], mixed(text.words[0], hash));
    const std::string_view far = text.text();
    return mixed(strid::detail::hash_bytes(far.data(), far.size()), hash);
}

template <class Word>
std::uint64_t loaded(const char* from) noexcept {
    Word word;
    std::memcpy(&word, from, sizeof word);
    return word;
}
/// At most 8 bytes as a number, without a loop: parts of them are read twice.
std::uint64_t short_bytes(const char* from, std::size_t size) noexcept {
    if (size >= 4) {
        return loaded<std::uint32_t>(from) | loaded<std::uint32_t>(from + size - 4)
                                                 << (8 * (size - 4));
    }
    if (size == 0) return 0;
    return loaded<std::uint8_t>(from) | loaded<std::uint8_t>(from + size / 2) << (8 * (size / 2)) |
           loaded<std::uint8_t>(from + size - 1) << (8 * (size - 1));
}

}  // namespace

TextWords TextWords::of(std::string_view text) noexcept {
    constexpr std::size_t head = sizeof(std::uint32_t);
    TextWords made;
    const std::size_t size = text.size();
    made.words[0] =
        static_cast<std::uint32_t>(size) | short_bytes(text.data(), std::min(size, head)) << 32;
    if (size > near_max) {
        const char* const far = text.data();
        std::memcpy(&made.words[1], &far, sizeof far);
    } else if (size > head) {
        made.words[1] = short_bytes(text.data() + head, size - head);
    }
    return made;
}

TextWords TextWords::owned(std::string_view text) {
    if (text.size() <= near_max) return of(text);
    if (text.size() > std::numeric_limits<std::uint32_t>::max()) {
        throw Error("a text of a key or of an aggregate has 4 GiB or more");
    }
    char* const copy = std::make_unique_for_overwrite<char[]>(text.size()).release();
    std::copy(text.begin(), text.end(), copy);
    return of({copy, text.size()});
}

std::string_view TextWords::text() const noexcept {
    if (is_near()) return {reinterpret_cast<const char*>(words) + sizeof(std::uint32_t), size()};
    const char* far = nullptr;
    std::memcpy(&far, &words[1], sizeof far);
    return {far, size()};
}

void TextWords::release() noexcept {
    if (!is_near()) {
        const std::unique_ptr<const char[]> freed(text().data());
    }
    words[0] = words[1] = 0;
}

std::uint64_t word_of(double value) noexcept {
    if (value == 0) return 0;
    if (value != value) value = std::numeric_limits<double>::quiet_NaN();
    return std::bit_cast<std::uint64_t>(value);
}

KeyRows::KeyRows(const std::vector<std::string>& columns, const Schema& schema)
    : null_words_((columns.size() + 63) / 64), words_(null_words_) {
    for (const std::string& name : columns) {
        const std::size_t column = schema.place_of(name);
        const Field& field = schema[column];
        if (std::ranges::find(fields_, name, &Field::name) != fields_.end()) {
            throw GraphError(fmt::format("the key has column '{}' twice", name));
        }
        fields_.push_back(field);
        parts_.push_back({column, field.type.kind, words_});
        if (field.type.kind == Kind::text) texts_.push_back(words_);
        words_ += field.type.kind == Kind::text ? 2 : 1;
    }
}

void KeyRows::read(const Chunk& chunk, std::uint64_t* keys, std::uint64_t* hashes) const noexcept {
    const std::size_t rows = chunk.rows();
    for (std::size_t row = 0; row != rows; ++row) {
        for (std::size_t i = 0; i != null_words_; ++i) keys[row * words_ + i] = 0;
    }
    std::fill_n(hashes, rows, hash_secret[0]);
    for (std::size_t i = 0; i != parts_.size(); ++i) {
        const Column& column = chunk.column(parts_[i].column);
        std::uint64_t* to = keys + parts_[i].word;
        const auto each = [&](const auto& word_at) {
            for (std::size_t row = 0; row != rows; ++row, to += words_) {
                *to = word_at(row);
                hashes[row] = mixed(*to, hashes[row]);
            }
        };
        switch (parts_[i].kind) {
            case Kind::boolean:
                each([values = column.values<std::uint8_t>()](std::size_t row) {
                    return std::uint64_t{values[row]};
                });
                break;
            case Kind::float64:
                each([values = column.values<double>()](std::size_t row) {
                    return word_of(values[row]);
                });
                break;
            case Kind::text: {
                const auto* const values = column.values<std::string_view>();
                for (std::size_t row = 0; row != rows; ++row, to += words_) {
                    const TextWords words = TextWords::of(values[row]);
                    to[0] = words.words[0];
                    to[1] = words.words[1];
                    hashes[row] = hash_of_text(words, hashes[row]);
                }
                break;
            }
            default:
                each([values = column.values<std::uint64_t>()](std::size_t row) {
                    return values[row];
                });
        }
        if (!column.has_nulls()) continue;
        const std::uint64_t bit = std::uint64_t{1} << (i % 64);
        const std::size_t words = parts_[i].kind == Kind::text ? 2 : 1;
        for (std::size_t row = 0; row != rows; ++row) {
            if (!column.is_null(row)) continue;
            std::uint64_t* const key = keys + row * words_;
            std::fill_n(key + parts_[i].word, words, std::uint64_t{0});
            key[i / 64] |= bit;
            // Whatever the value said: all NULLs of a column have one hash.
            hashes[row] = 0;
        }
    }
    // Rows with a NULL are few: they get their hashes from the words.
    for (std::size_t row = 0; row != rows; ++row) {
        const std::uint64_t* const key = keys + row * words_;
        if (std::all_of(key, key + null_words_, [](std::uint64_t word) { return word == 0; })) {
            continue;
        }
        hashes[row] = hash_of(key);
    }
}

std::uint64_t KeyRows::hash_of(const std::uint64_t* key) const noexcept {
    std::uint64_t hash = hash_secret[0];
    for (std::size_t i = 0; i != parts_.size(); ++i) {
        const std::uint64_t* const words = key + parts_[i].word;
        if (is_null(key, i)) {
            hash = mixed(hash_secret[2], hash + 1);
        } else if (parts_[i].kind == Kind::text) {
            hash = hash_of_text(TextWords{{words[0], words[1]}}, hash);
        } else {
            hash = mixed(*words, hash);
        }
    }
    return hash;
}

bool KeyRows::same_texts(const std::uint64_t* one, const std::uint64_t* other) const noexcept {
    std::size_t word = 0;
    const auto are_equal = [&](std::size_t end) {
        for (; word != end; ++word) {
            if (one[word] != other[word]) return false;
        }
        return true;
    };
    for (const std::size_t text : texts_) {
        if (!are_equal(text)) return false;
        const TextWords mine{{one[text], one[text + 1]}};
        if (!(mine == TextWords{{other[text], other[text + 1]}})) return false;
        word += 2;
    }
    return are_equal(words_);
}

void KeyRows::own(std::uint64_t* key) const {
    for (const std::size_t text : texts_) {
        const TextWords words = TextWords::owned(TextWords{{key[text], key[text + 1]}}.text());
        key[text] = words.words[0];
        key[text + 1] = words.words[1];
    }
}

void KeyRows::release(std::uint64_t* key) const noexcept {
    for (const std::size_t text : texts_) TextWords{{key[text], key[text + 1]}}.release();
}

std::size_t KeyRows::text_bytes(const std::uint64_t* key) const noexcept {
    std::size_t bytes = 0;
    for (const std::size_t text : texts_) bytes += static_cast<std::uint32_t>(key[text]);
    return bytes;
}

void KeyRows::write(const std::uint64_t* key, Chunk& chunk, std::size_t row,
                    char*& to) const noexcept {
    for (std::size_t i = 0; i != parts_.size(); ++i) {
        Column& column = chunk.column(i);
        const std::uint64_t* const words = key + parts_[i].word;
        if (parts_[i].kind == Kind::text) {
            const TextWords text{{words[0], words[1]}};
            const std::string_view view = text.text();
            column.values<std::string_view>()[row] = {to, view.size()};
            to = std::copy(view.begin(), view.end(), to);
        } else if (parts_[i].kind == Kind::boolean) {
            column.values<std::uint8_t>()[row] = *words != 0 ? 1 : 0;
        } else {
            column.values<std::uint64_t>()[row] = *words;
        }
        if (is_null(key, i)) column.set_null(row);
    }
}

void KeyRows::save(StateWriter& writer, const std::uint64_t* key) const {
    for (std::size_t i = 0; i != null_words_; ++i) writer.number(key[i]);
    for (const Part& part : parts_) {
        if (part.kind == Kind::text) {
            writer.text(TextWords{{key[part.word], key[part.word + 1]}}.text());
        } else {
            writer.number(key[part.word]);
        }
    }
}

std::uint64_t KeyRows::load(StateReader& reader, std::uint64_t* key) const {
    std::vector<TextWords> owned;  // given back where the bytes are none of a key
    try {
        for (std::size_t i = 0; i != null_words_; ++i) key[i] = reader.number();
        for (const Part& part : parts_) {
            if (part.kind != Kind::text) {
                key[part.word] = reader.number();
                if (part.kind == Kind::decimal &&
                    !is_decimal(static_cast<std::int64_t>(key[part.word]))) {
                    reader.refuse("is no decimal");
                }
                continue;
            }
            owned.push_back(TextWords::owned(reader.text()));
            key[part.word] = owned.back().words[0];
            key[part.word + 1] = owned.back().words[1];
        }
    } catch (...) {
        for (TextWords& words : owned) words.release();
        throw;
    }
    return hash_of(key);
}

}  // namespace strid::table
