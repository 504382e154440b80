// SPDX-License-Identifier: Apache-2.0
#include "factorizations.hpp"

#include <Eigen/Cholesky>
#include <array>
#include <memory>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <vector>

#ifdef STRID_BENCH_TBB
#include <oneapi/tbb/flow_graph.h>
#endif

#include <strid/pattern/task_graph.hpp>

namespace strid::bench {

Tiles::Tiles(const Matrix& matrix, Eigen::Index tile)
    : tile_(tile), count_(static_cast<std::size_t>(matrix.rows() / tile)) {
    for (std::size_t i = 0; i < count_ * count_; ++i) {
        const auto row = static_cast<Eigen::Index>(i / count_);
        const auto column = static_cast<Eigen::Index>(i % count_);
        all_.emplace_back(matrix.block(row * tile, column * tile, tile, tile));
    }
}

Matrix Tiles::whole() const {
    const auto size = static_cast<Eigen::Index>(count_) * tile_;
    Matrix matrix(size, size);
    for (std::size_t i = 0; i < all_.size(); ++i) {
        const auto row = static_cast<Eigen::Index>(i / count_);
        const auto column = static_cast<Eigen::Index>(i % count_);
        matrix.block(row * tile_, column * tile_, tile_, tile_) = all_[i];
    }
    return matrix;
}

namespace {

void factor_diagonal(Matrix& tile) {
    tile = Eigen::LLT<Matrix>(tile).matrixL();
}
void solve_below(const Matrix& diagonal, Matrix& tile) {
    diagonal.triangularView<Eigen::Lower>().transpose().solveInPlace<Eigen::OnTheRight>(tile);
}
void update(const Matrix& left, const Matrix& right, Matrix& tile) {
    tile.noalias() -= left * right.transpose();
}

/// Gives each step to `add`: its function, what it reads (one or two tiles, or none), and the tile
/// that it writes.
template <class Add>
void cholesky_steps(Tiles& tiles, const Add& add) {
    const std::size_t count = tiles.count();
    for (std::size_t k = 0; k < count; ++k) {
        Matrix& diagonal = tiles.at(k, k);
        add([&diagonal] { factor_diagonal(diagonal); }, std::array<Matrix*, 0>{}, diagonal);
        for (std::size_t i = k + 1; i < count; ++i) {
            Matrix& below = tiles.at(i, k);
            add([&diagonal, &below] { solve_below(diagonal, below); }, std::array{&diagonal},
                below);
        }
        for (std::size_t j = k + 1; j < count; ++j) {
            for (std::size_t i = j; i < count; ++i) {
                Matrix& left = tiles.at(i, k);
                Matrix& right = tiles.at(j, k);
                Matrix& tile = tiles.at(i, j);
                add([&left, &right, &tile] { update(left, right, tile); },
                    std::array{&left, &right}, tile);
            }
        }
    }
}

}  // namespace

void cholesky_alone(Tiles& tiles) {
    cholesky_steps(tiles, [](const auto& step, const auto&, Matrix&) { step(); });
}

void cholesky_by_task_graph(Tiles& tiles, pattern::Team& team) {
    pattern::TaskGraph graph(team);
    cholesky_steps(tiles, [&graph](auto step, const auto& read, Matrix& written) {
        std::apply(
            [&](const auto*... tile) {
                graph.task(step, pattern::reads(*tile...), pattern::writes(written));
            },
            read);
    });
    graph.wait();
}

#ifdef STRID_BENCH_TBB
/// The edges are those of the algorithm: from the last writer of each tile. Its nodes and edges
/// exist before the first task runs, as oneTBB's own example has it.
void cholesky_by_flow_graph(Tiles& tiles) {
    namespace flow = tbb::flow;
    using Node = flow::continue_node<flow::continue_msg>;
    flow::graph graph;
    std::vector<std::unique_ptr<Node>> nodes;
    std::unordered_map<const Matrix*, Node*> writers;
    std::vector<Node*> first;
    cholesky_steps(tiles, [&](auto step, const auto& read, Matrix& written) {
        nodes.push_back(
            std::make_unique<Node>(graph, [step](const flow::continue_msg&) { step(); }));
        Node& node = *nodes.back();
        bool waits = false;
        const auto behind = [&](const Matrix* tile) {
            const auto writer = writers.find(tile);
            if (writer == writers.end()) return;
            flow::make_edge(*writer->second, node);
            waits = true;
        };
        behind(&written);
        for (const Matrix* tile : read) behind(tile);
        writers[&written] = &node;
        if (!waits) first.push_back(&node);
    });
    for (Node* node : first) node->try_put(flow::continue_msg{});
    graph.wait_for_all();
}
#endif

}  // namespace strid::bench
