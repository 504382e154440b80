// SPDX-License-Identifier: Apache-2.0
//
// The synthetic pipeline source -> map -> filter -> sink over records of 64 bytes, shared by every
// implementation that is measured: the hand-written loops, oneTBB and the engine. Plain values
// without threads of their own: each implementation owns the objects it makes.
//
// Invariant: every quantity that the sink adds up is a multiple of one half and far below 2^52, so
// sums of doubles are exact and the checksum does not depend on the order or the grouping of the
// additions.
#pragma once

#include <cstdint>
#include <type_traits>

namespace strid::bench {

struct Record64 {
    std::uint64_t key;
    std::uint64_t timestamp;
    double value;
    std::uint64_t payload[5];
};
static_assert(sizeof(Record64) == 64 && std::is_trivially_copyable_v<Record64>);

inline constexpr std::uint64_t pipeline_seed = 0x9e3779b97f4a7c15ULL;

/// Makes the stream: the keys take turns, a xorshift generator gives value and payload, the
/// timestamp is the position.
class PipelineSource {
  public:
    explicit PipelineSource(std::uint64_t seed = pipeline_seed) noexcept : state_(seed) {}

    void fill(Record64& record) noexcept {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        record.key = position_ & 1023;
        record.timestamp = position_++;
        // Through a signed integer: one instruction on x86-64, where unsigned takes a branch.
        record.value = static_cast<double>(static_cast<std::int64_t>(state_ >> 54));
        for (std::uint64_t& word : record.payload) word = state_;
    }

  private:
    std::uint64_t state_;
    std::uint64_t position_ = 0;
};

inline void pipeline_map(Record64& record) noexcept {
    record.value = record.value * 1.5 + static_cast<double>(static_cast<std::int64_t>(record.key));
    record.payload[0] ^= record.timestamp;
}

/// Keeps half of the records, in runs of 16: a branch predictor learns it, so that what is measured
/// is the moving of records and not the cost of mispredictions, which every implementation would
/// pay alike.
inline bool pipeline_keep(const Record64& record) noexcept {
    return (record.key & 16) != 0;
}

/// The sum of the sink; equal for every implementation that ran the same number of records.
struct PipelineChecksum {
    std::uint64_t count = 0;
    std::uint64_t payload = 0;
    double value = 0;

    void add(const Record64& record) noexcept {
        ++count;
        payload += record.payload[0];
        value += record.value;
    }
    friend bool operator==(const PipelineChecksum&, const PipelineChecksum&) = default;
};

struct PipelineResult {
    std::uint64_t records = 0;  // made by the source
    double seconds = 0;
    PipelineChecksum checksum;
    std::int64_t latency_p50_ns = 0;  // from the source to the sink; 0 where it is not measured
    std::int64_t latency_p99_ns = 0;

    [[nodiscard]] double records_per_second() const noexcept {
        return static_cast<double>(records) / seconds;
    }
};

}  // namespace strid::bench
