// SPDX-License-Identifier: Apache-2.0
#include "block_line.hpp"

#include <algorithm>
#include <utility>

#include <strid/base/error.hpp>

namespace strid::compress {

namespace {

// Twice what a worker has, so that the others go on while one block takes long.
constexpr std::size_t blocks_per_worker = 4;
// Blocks of one byte over and over come out 52 times as large: then fewer are inside, and their
// memory is not kept.
constexpr std::size_t output_bytes_max = std::size_t{128} << 20;
constexpr std::size_t kept_bytes_max = std::size_t{4} << 20;

/// The work of a worker; each replica has a codec of its own, made by its first block.
class BlockWorker {
  public:
    BlockPointer operator()(BlockPointer block) {
        if (!codec_) codec_ = std::make_shared<Codec>();
        codec_->work(*block);
        return block;
    }

  private:
    std::shared_ptr<Codec> codec_;  // shared by nothing: it makes the node one that can be copied
};

}  // namespace

BlockPointer BlockLine::fresh() {
    if (unused_.empty()) return std::make_unique<Block>();
    BlockPointer block = std::move(unused_.back());
    unused_.pop_back();
    return block;
}

void BlockLine::recycle(BlockPointer block) {
    const std::size_t largest = std::max<std::size_t>(block->output.capacity(), 1);
    blocks_max_ = std::clamp(output_bytes_max / largest, blocks_min_, blocks_most_);
    block->input.trim(kept_bytes_max);
    block->output.trim(kept_bytes_max);
    unused_.push_back(std::move(block));
}

void BlockLine::offload(BlockPointer block) {
    hand_in(std::move(block));
    ++inside_;
}

BlockPointer BlockLine::result() {
    BlockPointer block = next_ ? std::move(next_) : wait_for_one();
    --inside_;
    return block;
}

bool BlockLine::has_result() {
    if (!next_ && inside_ != 0) next_ = look_for_one();
    return next_ != nullptr;
}

void BlockLine::discard_all() {
    while (!is_empty()) recycle(result());
}

BlockAccelerator::BlockAccelerator(const tool::WorkerOptions& workers)
    : BlockLine(workers.count + 1, workers.count * blocks_per_worker),
      accelerator_(pattern::accelerate<BlockPointer>(
          pattern::named("block", pattern::ordered_farm(BlockWorker{}, {.workers = workers.count})),
          workers.of_pattern())) {}

BlockPointer BlockAccelerator::wait_for_one() {
    std::optional<BlockPointer> result = accelerator_.result();
    if (!result) throw Error("the accelerator of blocks has ended early");
    return std::move(*result);
}

BlockPointer BlockAccelerator::look_for_one() {
    std::optional<BlockPointer> result = accelerator_.try_result();
    return result ? std::move(*result) : nullptr;
}

}  // namespace strid::compress
