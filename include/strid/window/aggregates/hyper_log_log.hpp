// SPDX-License-Identifier: Apache-2.0
//
// A sketch of a set, for how many different values are in it: HyperLogLog (Flajolet, Fusy, Gandouet
// and Meunier: "HyperLogLog: the analysis of a near-optimal cardinality estimation algorithm",
// 2007) with hashes of 64 bits (Heule, Nunkesser and Hall: "HyperLogLog in practice", 2013) and the
// estimator of Ertl ("New cardinality estimation algorithms for HyperLogLog sketches", 2017,
// section 4, algorithm 6), which needs no correction by tables at either end of the range. No
// packaged C++ library has one.
//
// As long as at most `exact_max` different values came in, their hashes themselves are kept and the
// number is exact (but for values whose 64 bits of hash are the same). Above that the relative
// standard error is 1.04 / sqrt(registers): 1.6 % for a precision of 12, 0.8 % for 14; the mean of
// the estimates lies about 1 / registers too high, far below that. At most one byte per register
// either way, and 8 bytes per value while there are few, in memory that is used again
// (memory/recycling.hpp).
//
// Threads: one. Invariant: a sketch depends on the set of hashes alone, so that the sketch of a
// union is the union of the sketches, to the bit. Either `registers_` is empty and `hashes_` rises
// strictly, with at most exact_max of them; or `hashes_` is empty and the register of each hash's
// first `precision` bits holds the greatest rank of its hashes, 0 where it has none. The rank of a
// hash is the position of the first 1 in the bits that follow.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numbers>
#include <tuple>
#include <utility>
#include <vector>

#include <strid/base/hash.hpp>
#include <strid/memory/recycling.hpp>
#include <strid/state/codec.hpp>

namespace strid::window {

/// A sketch of a set, for how many different values are in it. `precision` sets size and error:
/// 2^precision registers, 1.04 / sqrt(registers). Threads: one at a time.
template <unsigned precision = 12>
    requires(precision >= 4 && precision <= 18)
class HyperLogLog {
  public:
    /// Bytes of a state that is not exact any more.
    static constexpr std::size_t registers = std::size_t{1} << precision;
    /// Up to so many values the set is exact.
    static constexpr std::size_t exact_max = registers / 8;

    /// Amortised O(1), but O(exact_max) for a new value while few are in.
    template <Hashable Value>
    void add(const Value& value) {
        // One round of the engine's hash is enough for a table. Here equally spaced integers must
        // look random too, and so must values that share a replica because their hashes are alike.
        add_hash(hash_of(hash_of(value)));
    }

    /// Takes in what `other` has seen. O(registers).
    void merge(const HyperLogLog& other) {
        if (!other.is_exact()) {
            if (is_exact()) use_registers();
            for (std::size_t i = 0; i < registers; ++i) {
                registers_[i] = std::max(registers_[i], other.registers_[i]);
            }
        } else if (!is_exact()) {
            for (const std::uint64_t hash : other.hashes_) raise(hash);
        } else {
            Hashes both;
            both.reserve(hashes_.size() + other.hashes_.size());
            std::set_union(hashes_.begin(), hashes_.end(), other.hashes_.begin(),
                           other.hashes_.end(), std::back_inserter(both));
            hashes_ = std::move(both);
            if (hashes_.size() > exact_max) use_registers();
        }
    }

    /// How many different values came in: a whole number where it is exact. O(registers) else.
    [[nodiscard]] double estimate() const {
        if (is_exact()) return static_cast<double>(hashes_.size());
        std::array<std::uint32_t, rank_max + 1> with_rank{};
        for (const std::uint8_t rank : registers_) ++with_rank[rank];
        constexpr auto m = static_cast<double>(registers);
        double sum = m * tau(1 - with_rank[rank_max] / m);
        for (std::size_t rank = rank_max - 1; rank != 0; --rank) sum = (sum + with_rank[rank]) / 2;
        sum += m * sigma(with_rank[0] / m);
        return m * m / (2 * std::numbers::ln2 * sum);
    }
    /// Whether estimate() is the exact number.
    [[nodiscard]] bool is_exact() const noexcept { return registers_.empty(); }

    /// The standard deviation of the estimate, relative to the number.
    [[nodiscard]] static double standard_error() noexcept {
        return 1.04 / std::sqrt(static_cast<double>(registers));
    }
    /// Of the same set of hashes.
    friend bool operator==(const HyperLogLog&, const HyperLogLog&) = default;

    /// As strid/state/codec.hpp says.
    void save(StateWriter& writer) const {
        state::save(writer, hashes_);
        state::save(writer, registers_);
    }
    /// Throws StateError.
    void load(StateReader& reader) {
        state::load(reader, hashes_);
        state::load(reader, registers_);
        const bool is_exact_list = registers_.empty() && hashes_.size() <= exact_max &&
                                   std::is_sorted(hashes_.begin(), hashes_.end());
        const bool has_registers =
            hashes_.empty() && registers_.size() == registers &&
            *std::max_element(registers_.begin(), registers_.end()) <= rank_max;
        if (!is_exact_list && !has_registers) reader.refuse("is no sketch of different values");
    }

  private:
    using Hashes = std::vector<std::uint64_t, memory::RecyclingAllocator<std::uint64_t>>;
    using Registers = std::vector<std::uint8_t, memory::RecyclingAllocator<std::uint8_t>>;

    static constexpr std::size_t rank_max = 64 - precision + 1;

    void add_hash(std::uint64_t hash) {
        if (!is_exact()) {
            raise(hash);
            return;
        }
        const auto at = std::lower_bound(hashes_.begin(), hashes_.end(), hash);
        if (at != hashes_.end() && *at == hash) return;
        if (hashes_.size() == exact_max) {
            use_registers();
            raise(hash);
        } else {
            hashes_.insert(at, hash);
        }
    }

    void use_registers() {
        registers_.resize(registers);
        for (const std::uint64_t hash : std::exchange(hashes_, {})) raise(hash);
    }

    void raise(std::uint64_t hash) noexcept {
        // A 1 behind the last bit: there are no more than rank_max - 1 zeros.
        const std::uint64_t rest = hash << precision | std::uint64_t{1} << (precision - 1);
        const auto rank = static_cast<std::uint8_t>(std::countl_zero(rest) + 1);
        std::uint8_t& highest = registers_[hash >> (64 - precision)];
        highest = std::max(highest, rank);
    }

    /// x + the sum of x^(2^k) 2^(k-1) over k >= 1: what registers without a value stand for.
    static double sigma(double x) {
        if (x == 1) return std::numeric_limits<double>::infinity();
        double sum = x;
        for (double weight = 1, before = -1; sum != before; weight *= 2) {
            x *= x;
            before = sum;
            sum += x * weight;
        }
        return sum;
    }
    /// (1 - x - the sum of (1 - x^(2^-k))^2 2^-k over k >= 1) / 3: what full registers stand for.
    static double tau(double x) {
        if (x == 0 || x == 1) return 0;
        double sum = 1 - x;
        for (double weight = 0.5, before = -1; sum != before; weight /= 2) {
            x = std::sqrt(x);
            before = sum;
            sum -= (1 - x) * (1 - x) * weight;
        }
        return sum / 3;
    }

    Hashes hashes_;
    Registers registers_;
};

}  // namespace strid::window
