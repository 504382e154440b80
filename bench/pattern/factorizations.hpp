// SPDX-License-Identifier: Apache-2.0
//
// A matrix as tiles, and its Cholesky factorization by tile, whose steps a graph of tasks orders:
// this project's TaskGraph, or oneTBB's flow graph. Both have the same kernels, those of Eigen.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include <strid/pattern/team.hpp>

namespace strid::bench {

using Matrix = Eigen::MatrixXd;

/// Square tiles of a square matrix.
class Tiles {
  public:
    /// Its size is a multiple of that of a tile.
    Tiles(const Matrix& matrix, Eigen::Index tile);

    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    [[nodiscard]] Matrix& at(std::size_t row, std::size_t column) {
        return all_[row * count_ + column];
    }
    [[nodiscard]] Matrix whole() const;

  private:
    Eigen::Index tile_;
    std::size_t count_;
    std::vector<Matrix> all_;
};

/// In the order of the sequential program.
void cholesky_alone(Tiles& tiles);
/// The same steps as tasks. oneTBB's run on its threads, one for each core.
void cholesky_by_task_graph(Tiles& tiles, pattern::Team& team);
void cholesky_by_flow_graph(Tiles& tiles);

}  // namespace strid::bench
