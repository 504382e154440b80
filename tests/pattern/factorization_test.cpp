// SPDX-License-Identifier: Apache-2.0
//
// Cholesky and LU factorizations by tiles as graphs of tasks, against those of Eigen, and by the
// product of the factors. The kernels of the tiles are loops of the test's own.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#if __has_include(<Eigen/Dense>)
#include <Eigen/Cholesky>
#include <Eigen/LU>

#include <strid/pattern/task_graph.hpp>

#include "../support/seeds.hpp"

namespace strid::pattern {
namespace {

using Eigen::Index;
using Matrix = Eigen::MatrixXd;

constexpr Index tile_size = 8;

auto block_of(auto& matrix, Index i, Index j) {
    return matrix.block(i * tile_size, j * tile_size, tile_size, tile_size);
}

/// Tiles of a matrix, each an object that tasks read and write.
struct Tiles {
    explicit Tiles(const Matrix& matrix) : count(matrix.rows() / tile_size) {
        for (Index i = 0; i < count; ++i) {
            for (Index j = 0; j < count; ++j) all.emplace_back(block_of(matrix, i, j));
        }
    }
    Matrix& at(Index i, Index j) { return all[static_cast<std::size_t>(i * count + j)]; }
    Matrix whole() {
        Matrix matrix(count * tile_size, count * tile_size);
        for (Index i = 0; i < count; ++i) {
            for (Index j = 0; j < count; ++j) block_of(matrix, i, j) = at(i, j);
        }
        return matrix;
    }

    Index count;
    std::vector<Matrix> all;
};

/// c -= a * b
void subtract_product(const Matrix& a, const Matrix& b, Matrix& c) {
    for (Index i = 0; i < tile_size; ++i)
        for (Index j = 0; j < tile_size; ++j)
            for (Index k = 0; k < tile_size; ++k) c(i, j) -= a(i, k) * b(k, j);
}

void cholesky_of_tile(Matrix& a) {
    for (Index j = 0; j < tile_size; ++j) {
        for (Index k = 0; k < j; ++k) a(j, j) -= a(j, k) * a(j, k);
        a(j, j) = std::sqrt(a(j, j));
        for (Index i = j + 1; i < tile_size; ++i) {
            for (Index k = 0; k < j; ++k) a(i, j) -= a(i, k) * a(j, k);
            a(i, j) /= a(j, j);
        }
    }
}
/// a = a * inverse of the transposed lower triangle
void divide_by_transposed(const Matrix& lower, Matrix& a) {
    for (Index j = 0; j < tile_size; ++j)
        for (Index i = 0; i < tile_size; ++i) {
            for (Index k = 0; k < j; ++k) a(i, j) -= a(i, k) * lower(j, k);
            a(i, j) /= lower(j, j);
        }
}

void cholesky(Team& team, Tiles& tiles) {
    TaskGraph graph(team);
    for (Index k = 0; k < tiles.count; ++k) {
        Matrix& diagonal = tiles.at(k, k);
        graph.task([&diagonal] { cholesky_of_tile(diagonal); }, writes(diagonal));
        for (Index i = k + 1; i < tiles.count; ++i) {
            Matrix& below = tiles.at(i, k);
            graph.task([&diagonal, &below] { divide_by_transposed(diagonal, below); },
                       reads(diagonal), writes(below));
        }
        for (Index j = k + 1; j < tiles.count; ++j)
            for (Index i = j; i < tiles.count; ++i) {
                Matrix &left = tiles.at(i, k), &right = tiles.at(j, k), &tile = tiles.at(i, j);
                graph.task([&] { subtract_product(left, right.transpose(), tile); },
                           reads(left, right), writes(tile));
            }
    }
    graph.wait();
}

void lu_of_tile(Matrix& a) {
    for (Index k = 0; k < tile_size; ++k)
        for (Index i = k + 1; i < tile_size; ++i) {
            a(i, k) /= a(k, k);
            for (Index j = k + 1; j < tile_size; ++j) a(i, j) -= a(i, k) * a(k, j);
        }
}
void solve_lower(const Matrix& factors, Matrix& a) {  // of ones on the diagonal
    for (Index j = 0; j < tile_size; ++j)
        for (Index i = 0; i < tile_size; ++i)
            for (Index k = 0; k < i; ++k) a(i, j) -= factors(i, k) * a(k, j);
}
void divide_by_upper(const Matrix& factors, Matrix& a) {
    for (Index i = 0; i < tile_size; ++i)
        for (Index j = 0; j < tile_size; ++j) {
            for (Index k = 0; k < j; ++k) a(i, j) -= a(i, k) * factors(k, j);
            a(i, j) /= factors(j, j);
        }
}

/// Without pivots: for matrices whose diagonal is larger than the rest of each column.
void lu(Team& team, Tiles& tiles) {
    TaskGraph graph(team, {.open_tasks_max = 64});
    for (Index k = 0; k < tiles.count; ++k) {
        Matrix& diagonal = tiles.at(k, k);
        graph.task([&diagonal] { lu_of_tile(diagonal); }, writes(diagonal));
        for (Index i = k + 1; i < tiles.count; ++i) {
            Matrix &right = tiles.at(k, i), &below = tiles.at(i, k);
            graph.task([&] { solve_lower(diagonal, right); }, reads(diagonal), writes(right));
            graph.task([&] { divide_by_upper(diagonal, below); }, reads(diagonal), writes(below));
        }
        for (Index i = k + 1; i < tiles.count; ++i)
            for (Index j = k + 1; j < tiles.count; ++j) {
                Matrix &left = tiles.at(i, k), &above = tiles.at(k, j), &tile = tiles.at(i, j);
                graph.task([&] { subtract_product(left, above, tile); }, reads(left, above),
                           writes(tile));
            }
    }
    graph.wait();
}

Matrix random_matrix(std::mt19937_64& random, Index size) {
    std::uniform_real_distribution<double> numbers(-1, 1);
    return Matrix::NullaryExpr(size, size, [&] { return numbers(random); });
}

TEST(Factorization, CholeskyByTilesIsThatOfEigen) {
    for (const std::uint64_t seed : test::seeds(3)) {
        std::mt19937_64 random(seed);
        const Index size = tile_size * static_cast<Index>(1 + random() % 12);
        const Matrix some = random_matrix(random, size);
        const Matrix matrix =
            some * some.transpose() + static_cast<double>(size) * Matrix::Identity(size, size);
        Team team(1 + seed % 4);
        Tiles tiles(matrix);
        cholesky(team, tiles);
        const Matrix lower = tiles.whole().triangularView<Eigen::Lower>();
        const Matrix expected = matrix.llt().matrixL();
        EXPECT_LE((lower - expected).norm(), 1e-13 * expected.norm()) << "seed " << seed;
        EXPECT_LE((lower * lower.transpose() - matrix).norm(), 1e-13 * matrix.norm());
    }
}

TEST(Factorization, LuByTilesSolvesAsEigenDoes) {
    for (const std::uint64_t seed : test::seeds(3)) {
        std::mt19937_64 random(seed);
        const Index size = tile_size * static_cast<Index>(1 + random() % 12);
        const Matrix matrix =
            random_matrix(random, size) + static_cast<double>(size) * Matrix::Identity(size, size);
        Team team(1 + seed % 4);
        Tiles tiles(matrix);
        lu(team, tiles);
        const Matrix factors = tiles.whole();
        const Matrix lower = factors.triangularView<Eigen::UnitLower>();
        const Matrix upper = factors.triangularView<Eigen::Upper>();
        EXPECT_LE((lower * upper - matrix).norm(), 1e-13 * matrix.norm()) << "seed " << seed;
        const Eigen::VectorXd right = random_matrix(random, size).col(0);
        const Eigen::VectorXd solution = upper.triangularView<Eigen::Upper>().solve(
            lower.triangularView<Eigen::UnitLower>().solve(right));
        const Eigen::VectorXd expected = matrix.partialPivLu().solve(right);
        EXPECT_LE((solution - expected).norm(), 1e-12 * expected.norm());
    }
}

}  // namespace
}  // namespace strid::pattern

#else

TEST(Factorization, NeedsEigen) {
    GTEST_SKIP() << "libeigen3-dev is not installed";
}

#endif
