// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a saved state: a writer that hands them on in pieces, and a reader that trusts none
// of them. Numbers are little-endian; a length is a number of 8 bytes before what it counts.
//
// Every fault of the bytes is a StateError: they are cut, a length is larger than what is left, or
// a value is impossible. No length makes the reader take memory that the bytes themselves do not
// justify, so that a damaged state of 1 KB never takes 1 GB.
//
// Threads: one for each writer and reader.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

#include <strid/base/error.hpp>

namespace strid {

/// A saved state cannot be read: it is damaged, or of another program.
class StateError : public Error {
  public:
    using Error::Error;
};

namespace state {
class StoredVersions;  // engine/state/layouts.hpp
}

/// Takes the bytes of a state and hands them to its receiver in pieces of about 64 KiB.
class StateWriter {
  public:
    /// Where the bytes go.
    class Receiver {
      public:
        virtual ~Receiver() = default;
        /// The next bytes of the state. May throw: the state is then not saved.
        virtual void receive(std::span<const std::byte> bytes) = 0;
    };

    /// `receiver` must outlive the writer.
    explicit StateWriter(Receiver& receiver) : receiver_(&receiver) {}
    StateWriter(const StateWriter&) = delete;
    StateWriter& operator=(const StateWriter&) = delete;
    ~StateWriter() = default;

    /// Writes the bytes as they are. Amortised O(bytes). Throws what the receiver throws.
    void bytes(std::span<const std::byte> bytes) {
        if (bytes.size() >= piece_bytes) return large(bytes);
        if (kept_.size() + bytes.size() > piece_bytes) flush();
        kept_.insert(kept_.end(), bytes.begin(), bytes.end());
    }
    /// Writes a number of elements, or of bytes.
    void length(std::size_t count) { number(static_cast<std::uint64_t>(count)); }
    /// Writes an integer.
    void number(std::uint64_t value) { bytes(std::as_bytes(std::span(&value, 1))); }
    /// Writes a length and that many bytes.
    void text(std::string_view text) {
        length(text.size());
        bytes(std::as_bytes(std::span(text)));
    }

    /// Hands on what is kept: once behind the last value. Throws what the receiver throws.
    void flush();
    /// How many bytes were written.
    [[nodiscard]] std::uint64_t written() const noexcept { return handed_on_ + kept_.size(); }

  private:
    static constexpr std::size_t piece_bytes = std::size_t{64} << 10;

    void large(std::span<const std::byte> bytes);

    Receiver* receiver_;
    std::vector<std::byte> kept_;
    std::uint64_t handed_on_ = 0;
};

/// Keeps all bytes of a state, in pieces: none is moved when others come, which would take long
/// where they are many.
class StateBytes final : public StateWriter::Receiver {
  public:
    StateBytes() = default;
    /// One piece.
    explicit StateBytes(std::vector<std::byte> bytes) { add(std::move(bytes)); }

    void receive(std::span<const std::byte> bytes) override;
    /// Adds a piece behind the others. O(1).
    void add(std::vector<std::byte> piece);
    /// Adds the pieces of another. O(pieces).
    void add(StateBytes other);
    /// How many bytes it has. O(1).
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// The pieces, none of them empty.
    [[nodiscard]] std::span<const std::vector<std::byte>> pieces() const noexcept {
        return pieces_;
    }
    /// All bytes, which become one piece. O(bytes) where there are several.
    [[nodiscard]] std::span<const std::byte> whole();
    /// All that it has received, which it then has no more. O(bytes), unless it is one piece.
    [[nodiscard]] std::vector<std::byte> take();

  private:
    std::vector<std::vector<std::byte>> pieces_;
    std::size_t size_ = 0;
};

/// Reads the values of a state in the order in which they were written.
class StateReader {
  public:
    /// The bytes must outlive the reader, and the texts that it returns.
    explicit StateReader(std::span<const std::byte> bytes) noexcept : left_(bytes) {}

    /// The next bytes. Throws StateError if there are fewer.
    [[nodiscard]] std::span<const std::byte> bytes(std::size_t count) {
        if (count > left_.size()) cut(count);
        const auto found = left_.first(count);
        left_ = left_.subspan(count);
        return found;
    }
    /// A number of elements that have at least `least_bytes` each. Throws StateError if so many
    /// cannot follow.
    [[nodiscard]] std::size_t length(std::size_t least_bytes = 1);
    /// An integer.
    [[nodiscard]] std::uint64_t number();
    /// A text, which lies in the bytes of the reader.
    [[nodiscard]] std::string_view text();
    /// One of `count` alternatives. Throws StateError for any other number.
    [[nodiscard]] std::size_t choice(std::size_t count);

    /// Reads the values of a part that is nested in others, by `read()`. Throws StateError if more
    /// than `nesting_max` of them are.
    template <class Read>
    void nested(const Read& read) {
        if (++depth_ > nesting_max) refuse("is nested too deeply");
        read();
        --depth_;
    }
    /// Lends an object to the values that are loaded while the result lives: it is what the saved
    /// ones were made with. Null lends nothing.
    template <class T>
    [[nodiscard]] auto lend(const T* object) noexcept {
        return Lending{*this, object, &tag_of<T>};
    }
    /// The object of this type that is lent. Throws StateError if there is none.
    template <class T>
    [[nodiscard]] const T& lent() const {
        if (lent_ == nullptr || tag_ != &tag_of<T>) refuse("needs an object that is not at hand");
        return *static_cast<const T*>(lent_);
    }
    /// The types whose values were stored as those of an earlier version of the type; they outlive
    /// the reader.
    void use(const state::StoredVersions& versions) noexcept { versions_ = &versions; }
    /// The same; null: none were given.
    [[nodiscard]] const state::StoredVersions* versions() const noexcept { return versions_; }
    /// How many versions ago the values of this type were stored.
    [[nodiscard]] std::size_t version_of(const std::type_info& type) const {
        return versions_ == nullptr ? 0 : stored_version(type);
    }
    /// Throws StateError: the value read last `fault` ("is no time of day").
    [[noreturn]] void refuse(std::string_view fault) const;
    /// How many bytes have not been read.
    [[nodiscard]] std::size_t left() const noexcept { return left_.size(); }
    /// The bytes that were read since so many were left.
    [[nodiscard]] std::span<const std::byte> read_since(std::size_t left) const noexcept {
        const std::size_t read = left - left_.size();
        return {left_.data() - read, read};
    }
    /// Throws StateError unless all was read.
    void expect_end() const;

    /// Depth of parts within parts.
    static constexpr std::size_t nesting_max = 1000;

  private:
    /// Its address stands for a type.
    template <class T>
    static inline const char tag_of = 0;

    /// Takes back what it lent.
    class Lending {
      public:
        Lending(StateReader& reader, const void* object, const char* tag) noexcept
            : reader_(&reader),
              lent_(std::exchange(reader.lent_, object)),
              tag_(std::exchange(reader.tag_, tag)) {}
        Lending(const Lending&) = delete;
        Lending& operator=(const Lending&) = delete;
        ~Lending() {
            reader_->lent_ = lent_;
            reader_->tag_ = tag_;
        }

      private:
        StateReader* reader_;
        const void* lent_;
        const char* tag_;
    };

    [[noreturn]] void cut(std::size_t wanted) const;
    [[nodiscard]] std::size_t stored_version(const std::type_info& type) const;

    std::span<const std::byte> left_;
    std::size_t depth_ = 0;
    const void* lent_ = nullptr;
    const char* tag_ = nullptr;
    const state::StoredVersions* versions_ = nullptr;
};

static_assert(std::endian::native == std::endian::little,
              "a saved state is little-endian, and written as it lies in memory");

}  // namespace strid
