// SPDX-License-Identifier: Apache-2.0
//
// Where the blocks of one file are worked on: they leave in the order in which they came. In this
// thread (BlocksInTurn), or by the first accelerator of paper 4's file compressor, an ordered farm
// (BlockAccelerator). The code that cuts a file and the one that puts it together do not know which
// it is.
//
// Owns the blocks. One thread offloads and takes results.
//
// Invariant: no more than `blocks_max()` blocks are inside, so that memory is bounded for a stream
// of any length: the accelerator itself would keep all results that are not taken.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include <strid/pattern/accelerator.hpp>

#include "block.hpp"
#include "codec.hpp"
#include "tools/common/worker_options.hpp"

namespace strid::compress {

class BlockLine {
  public:
    virtual ~BlockLine() = default;

    /// An empty one, used again where there is one.
    [[nodiscard]] BlockPointer fresh();
    void recycle(BlockPointer block);

    /// Only while is_full() is false. Throws OperatorError where a block could not be worked on for
    /// lack of memory.
    void offload(BlockPointer block);
    /// The oldest; waits for it. Only while it is not empty.
    [[nodiscard]] BlockPointer result();
    /// True where result() need not wait.
    [[nodiscard]] bool has_result();
    /// The blocks inside are of no use any more.
    void discard_all();

    [[nodiscard]] bool is_empty() const noexcept { return inside_ == 0; }
    [[nodiscard]] bool is_full() const noexcept { return inside_ >= blocks_max_; }
    [[nodiscard]] std::size_t blocks_max() const noexcept { return blocks_max_; }

    /// For what is decoded one after the other by the thread that offloads.
    [[nodiscard]] virtual Codec& codec() noexcept = 0;

  protected:
    BlockLine(std::size_t blocks_min, std::size_t blocks_most)
        : blocks_min_(blocks_min), blocks_most_(blocks_most), blocks_max_(blocks_most) {}

    virtual void hand_in(BlockPointer block) = 0;
    [[nodiscard]] virtual BlockPointer wait_for_one() = 0;
    [[nodiscard]] virtual BlockPointer look_for_one() = 0;

  private:
    const std::size_t blocks_min_;
    const std::size_t blocks_most_;
    std::size_t blocks_max_;
    std::size_t inside_ = 0;
    BlockPointer next_;  // taken, not yet asked for; counts as inside
    std::vector<BlockPointer> unused_;
};

class BlocksInTurn final : public BlockLine {
  public:
    explicit BlocksInTurn(Codec& codec) : BlockLine(1, 1), codec_(codec) {}

    [[nodiscard]] Codec& codec() noexcept override { return codec_; }

  private:
    void hand_in(BlockPointer block) override {
        codec_.work(*block);
        done_ = std::move(block);
    }
    BlockPointer wait_for_one() override { return std::move(done_); }
    BlockPointer look_for_one() override { return std::move(done_); }

    Codec& codec_;
    BlockPointer done_;
};

class BlockAccelerator final : public BlockLine {
  public:
    explicit BlockAccelerator(const tool::WorkerOptions& workers);

    [[nodiscard]] Codec& codec() noexcept override { return codec_; }

  private:
    void hand_in(BlockPointer block) override { accelerator_.offload(std::move(block)); }
    BlockPointer wait_for_one() override;
    BlockPointer look_for_one() override;

    Codec codec_;
    pattern::Accelerator<BlockPointer, BlockPointer> accelerator_;
};

}  // namespace strid::compress
