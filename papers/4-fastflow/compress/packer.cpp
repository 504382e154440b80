// SPDX-License-Identifier: Apache-2.0
#include "packer.hpp"

#include <utility>

namespace strid::compress {

namespace {

class Packer {
  public:
    Packer(Input& input, Output& output, BlockLine& line, int level, const OnProgress& on_progress)
        : input_(input), output_(output), line_(line), level_(level), on_progress_(on_progress) {}

    void run() {
        // An empty file is one stream without blocks.
        for (bool is_first = true;; is_first = false) {
            BlockPointer block = read_block();
            if (block->input.size() == 0 && !is_first) {
                line_.recycle(std::move(block));
                break;
            }
            while (line_.is_full()) write_one();
            line_.offload(std::move(block));
            write_those_done();
        }
        while (!line_.is_empty()) write_one();
    }

  private:
    /// Full, except the last.
    BlockPointer read_block() {
        BlockPointer block = line_.fresh();
        block->direction = Direction::compress;
        block->level = level_;
        const std::size_t size = block_bytes(level_);
        char* const bytes = block->input.reserve(size);
        std::size_t filled = 0;
        while (filled < size && !input_.ended()) {
            const std::size_t count = input_.read(bytes + filled, size - filled);
            filled += count;
            if (count == 0) write_those_done();
        }
        block->input.set_size(filled);
        return block;
    }
    void write_those_done() {
        while (line_.has_result()) write_one();
        on_progress_(input_.bytes_read());
    }
    void write_one() {
        input_.check_interrupted();
        BlockPointer block = line_.result();
        output_.write(block->output.view());
        line_.recycle(std::move(block));
        on_progress_(input_.bytes_read());
    }

    Input& input_;
    Output& output_;
    BlockLine& line_;
    const int level_;
    const OnProgress& on_progress_;
};

}  // namespace

void pack(Input& input, Output& output, BlockLine& line, int level, const OnProgress& on_progress) {
    Packer(input, output, line, level, on_progress).run();
}

}  // namespace strid::compress
