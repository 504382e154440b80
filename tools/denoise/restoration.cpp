// SPDX-License-Identifier: Apache-2.0
#include "restoration.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "sweep.hpp"

namespace strid::denoise {

namespace {

constexpr std::size_t rows_at_once = 16;
constexpr std::size_t samples_at_once = 4'096;
constexpr float grey_max = 255;

/// The mean of the samples that are no noise in the smallest window that has one, in sample units;
/// nothing below: no window up to the largest one has.
double mean_around(const Plane& plane, const NoiseMap& map, std::size_t x, std::size_t y) {
    constexpr std::size_t radius_max = window_max / 2;
    for (std::size_t radius = 1; radius <= radius_max; ++radius) {
        const std::size_t left = x - std::min(x, radius);
        const std::size_t right = std::min(x + radius + 1, plane.width);
        const std::size_t bottom = std::min(y + radius + 1, plane.height);
        std::uint64_t sum = 0;
        std::uint64_t count = 0;
        for (std::size_t row = y - std::min(y, radius); row < bottom; ++row) {
            const std::size_t first = row * plane.width;
            for (std::size_t at = first + left; at < first + right; ++at) {
                const std::uint64_t good = 1U - map.noisy[at];
                sum += good * plane.samples[at];
                count += good;
            }
        }
        if (count != 0) return static_cast<double>(sum) / static_cast<double>(count);
    }
    return -1;
}

/// The noisy samples in the order of their rows, apart by colour, and those with four neighbours
/// apart from those at the border.
struct Lists {
    std::array<std::vector<std::int32_t>, 2> inner;
    std::array<std::vector<std::int32_t>, 2> border;
};

Lists list_noise(const Plane& plane, const NoiseMap& map) {
    Lists lists;
    for (auto& list : lists.inner) list.reserve(map.count / 2 + map.count / 64 + 64);
    for (std::size_t y = 0; y < plane.height; ++y) {
        if (map.row_counts[y] == 0) continue;
        const bool edge_row = y == 0 || y + 1 == plane.height;
        for (std::size_t x = 0; x < plane.width; ++x) {
            const std::size_t at = y * plane.width + x;
            if (map.noisy[at] == 0) continue;
            const bool at_border = edge_row || x == 0 || x + 1 == plane.width;
            auto& list = at_border ? lists.border : lists.inner;
            list[(x + y) % 2].push_back(static_cast<std::int32_t>(at));
        }
    }
    return lists;
}

class Restorer {
  public:
    Restorer(Plane& plane, unsigned sample_max, const NoiseMap& map,
             const RestorationOptions& options, const Loop& loop)
        : plane_(plane),
          loop_(loop),
          scale_(grey_max / static_cast<float>(sample_max)),
          sample_max_(sample_max),
          values_(plane.samples.size()),
          lists_(list_noise(plane, map)) {
        sweep_.values = values_.data();
        sweep_.samples = plane.samples.data();
        sweep_.pitch = static_cast<std::ptrdiff_t>(plane.width);
        sweep_.height = static_cast<std::ptrdiff_t>(plane.height);
        sweep_.edge = static_cast<float>(options.edge);
        sweep_.relaxation = static_cast<float>(options.relaxation);
        sweep_.fidelity = static_cast<float>(options.fidelity);
        begin(map);
    }

    /// Returns the sum of all changes, in units of 1 / change_units.
    std::uint64_t iterate() {
        std::uint64_t change = 0;
        for (std::size_t colour = 0; colour < 2; ++colour) {
            const auto& inner = lists_.inner[colour];
            const auto& border = lists_.border[colour];
            changes_.assign(inner.size() / samples_at_once + 2, 0);
            const std::size_t inner_blocks = (inner.size() + samples_at_once - 1) / samples_at_once;
            loop_(inner_blocks + (border.empty() ? 0 : 1), [&](std::size_t number) {
                const std::size_t first = number * samples_at_once;
                changes_[number] =
                    number == inner_blocks
                        ? sweep_border(sweep_, border)
                        : sweep_inner(sweep_,
                                      std::span(inner).subspan(
                                          first, std::min(samples_at_once, inner.size() - first)));
            });
            change += std::accumulate(changes_.begin(), changes_.end(), std::uint64_t{0});
        }
        return change;
    }

    void finish() {
        for (const auto* lists : {&lists_.inner, &lists_.border}) {
            for (const auto& list : *lists) {
                for_parts(loop_, list.size(), samples_at_once, [&](std::size_t b, std::size_t e) {
                    for (std::size_t i = b; i < e; ++i) write(static_cast<std::size_t>(list[i]));
                });
            }
        }
    }

  private:
    void begin(const NoiseMap& map) {
        for_parts(loop_, plane_.height, rows_at_once, [&](std::size_t begin, std::size_t end) {
            for (std::size_t at = begin * plane_.width; at < end * plane_.width; ++at) {
                values_[at] = static_cast<float>(plane_.samples[at]) * scale_;
            }
            for (std::size_t y = begin; y < end; ++y) {
                if (map.row_counts[y] == 0) continue;
                for (std::size_t x = 0; x < plane_.width; ++x) {
                    const std::size_t at = y * plane_.width + x;
                    if (map.noisy[at] == 0) continue;
                    const double mean = mean_around(plane_, map, x, y);
                    values_[at] = mean < 0 ? grey_max / 2 : static_cast<float>(mean) * scale_;
                }
            }
        });
    }
    void write(std::size_t at) {
        const float sample = values_[at] / scale_;
        const auto rounded = static_cast<unsigned>(std::lrint(sample));
        plane_.samples[at] = static_cast<std::uint16_t>(std::min(rounded, sample_max_));
    }

    Plane& plane_;
    const Loop& loop_;
    const float scale_;
    const unsigned sample_max_;
    std::vector<float> values_;
    Lists lists_;
    std::vector<std::uint64_t> changes_;
    Sweep sweep_;
};

}  // namespace

Restoration restore(Plane& plane, unsigned sample_max, const NoiseMap& map,
                    const RestorationOptions& options, const Loop& loop) {
    Restoration done;
    if (map.count == 0) return done;
    Restorer restorer(plane, sample_max, map, options, loop);
    done.converged = false;
    while (!done.converged && done.iterations < options.iterations_max) {
        const auto change = static_cast<double>(restorer.iterate());
        done.change = change / change_units / static_cast<double>(map.count);
        ++done.iterations;
        done.converged = done.change < options.tolerance;
    }
    restorer.finish();
    return done;
}

}  // namespace strid::denoise
