// SPDX-License-Identifier: Apache-2.0
//
// The baseline of `strid tree learn`: the same kernel without a pattern and without
// threads. Prints what `strid tree learn --input FILE --target COLUMN` prints.
//
//     sequential_tree FILE TARGET
#include <atomic>
#include <cstdio>
#include <exception>
#include <utility>

#include "growth.hpp"
#include "learning.hpp"
#include "model.hpp"
#include "table_parser.hpp"
#include "training.hpp"

int main(int argc, char** argv) {
    using namespace strid::tree;
    if (argc != 3) {
        std::fprintf(stderr, "sequential_tree FILE TARGET\n");
        return 2;
    }
    try {
        const std::atomic<bool> interrupted{false};
        LearningOptions options;
        options.reading.target = argv[2];
        CsvBlocks input(argv[1], options.reading.delimiter, interrupted);
        const Table table = read_table(input, options.reading);
        Training training(table, options.growth, interrupted);
        for (std::size_t i = 0; i < training.attributes(); ++i) training.prepare(i);
        GrowingNode root;
        Scratch scratch;
        grow(training, Growing(training, root), scratch);
        Model model{table.schema, flatten(root)};
        prune(model.tree, options.confidence);
        const std::string text = learned_text(model, table);
        std::fwrite(text.data(), 1, text.size(), stdout);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "sequential_tree: %s\n", error.what());
        return 1;
    }
    return 0;
}
