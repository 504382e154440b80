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

constexpr std::size_t restored_rows_at_once = 16;
constexpr std::size_t restored_at_once = 4'096;
constexpr float grey_max = 255;

/// The mean of the samples that are no noise in the smallest window that has one, in sample units;
/// nothing below: no window up to the largest one has.
double mean_around(const Plane& plane, const NoiseMap& map, std::size_t x, std::size_t y,
                   std::size_t radius_min) {
    constexpr std::size_t radius_max = window_max / 2;
    for (std::size_t radius = radius_min; radius <= radius_max; ++radius) {
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

/// The same for a sample with eight neighbours, most of which have a good one among them.
double mean_inside(const Plane& plane, const NoiseMap& map, std::size_t x, std::size_t y) {
    std::uint32_t sum = 0;
    std::uint32_t count = 0;
    const std::size_t corner = (y - 1) * plane.width + x - 1;
    for (std::size_t row = 0; row < 3; ++row) {
        for (std::size_t column = 0; column < 3; ++column) {
            const std::size_t at = corner + row * plane.width + column;
            const std::uint32_t good = 1U - map.noisy[at];
            sum += good * plane.samples[at];
            count += good;
        }
    }
    if (count == 0) return mean_around(plane, map, x, y, 2);
    return static_cast<double>(sum) / static_cast<double>(count);
}

/// The noisy samples of one colour in the order of their rows, those with four neighbours apart
/// from those at the border.
struct Lists {
    std::array<Array<std::int32_t>, 2> inner;
    std::array<Array<std::int32_t>, 2> border;
};

/// Calls `take(colour, at border, index)` for each noisy sample of the row.
template <class Take>
void for_noise(const Plane& plane, const NoiseMap& map, std::size_t y, Take&& take) {
    const bool border_row = y == 0 || y + 1 == plane.height;
    for (std::size_t x = 0; x < plane.width; ++x) {
        const std::size_t at = y * plane.width + x;
        if (map.noisy[at] == 0) continue;
        const bool at_border = border_row || x == 0 || x + 1 == plane.width;
        take((x + y) % 2, at_border, static_cast<std::int32_t>(at));
    }
}

/// Where the samples of each row begin is counted first, so that rows can be listed at once.
Lists list_noise(const Plane& plane, const NoiseMap& map, const Loop& loop) {
    using Counts = std::array<std::size_t, 4>;  // 2 * colour + at border
    std::vector<Counts> begins(plane.height + 1);
    const auto for_rows = [&](auto&& body) {
        for_parts(loop, plane.height, restored_rows_at_once,
                  [&](std::size_t begin, std::size_t end) {
                      for (std::size_t y = begin; y < end; ++y) {
                          if (map.row_counts[y] != 0) body(y);
                      }
                  });
    };
    for_rows([&](std::size_t y) {
        for_noise(plane, map, y, [&](std::size_t colour, bool at_border, std::int32_t) {
            ++begins[y + 1][2 * colour + (at_border ? 1 : 0)];
        });
    });
    for (std::size_t y = 0; y < plane.height; ++y) {
        for (std::size_t i = 0; i < 4; ++i) begins[y + 1][i] += begins[y][i];
    }
    Lists lists;
    for (std::size_t colour = 0; colour < 2; ++colour) {
        lists.inner[colour].resize(begins.back()[2 * colour]);
        lists.border[colour].resize(begins.back()[2 * colour + 1]);
    }
    for_rows([&](std::size_t y) {
        Counts next = begins[y];
        for_noise(plane, map, y, [&](std::size_t colour, bool at_border, std::int32_t index) {
            auto& list = at_border ? lists.border[colour] : lists.inner[colour];
            list[next[2 * colour + (at_border ? 1 : 0)]++] = index;
        });
    });
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
          lists_(list_noise(plane, map, loop)) {
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
            changes_.assign(inner.size() / restored_at_once + 2, 0);
            const std::size_t inner_blocks =
                (inner.size() + restored_at_once - 1) / restored_at_once;
            loop_(inner_blocks + (border.empty() ? 0 : 1), [&](std::size_t number) {
                const std::size_t first = number * restored_at_once;
                changes_[number] =
                    number == inner_blocks
                        ? sweep_border(sweep_, border)
                        : sweep_inner(sweep_,
                                      std::span(inner).subspan(
                                          first, std::min(restored_at_once, inner.size() - first)));
            });
            change += std::accumulate(changes_.begin(), changes_.end(), std::uint64_t{0});
        }
        return change;
    }

    void finish() {
        for (const auto* lists : {&lists_.inner, &lists_.border}) {
            for (const auto& list : *lists) {
                for_parts(loop_, list.size(), restored_at_once, [&](std::size_t b, std::size_t e) {
                    for (std::size_t i = b; i < e; ++i) write(static_cast<std::size_t>(list[i]));
                });
            }
        }
    }

  private:
    void begin(const NoiseMap& map) {
        for_parts(
            loop_, plane_.height, restored_rows_at_once, [&](std::size_t begin, std::size_t end) {
                for (std::size_t at = begin * plane_.width; at < end * plane_.width; ++at) {
                    values_[at] = static_cast<float>(plane_.samples[at]) * scale_;
                }
                for (std::size_t y = begin; y < end; ++y) {
                    if (map.row_counts[y] == 0) continue;
                    for (std::size_t x = 0; x < plane_.width; ++x) {
                        const std::size_t at = y * plane_.width + x;
                        if (map.noisy[at] == 0) continue;
                        const bool at_border =
                            y == 0 || y + 1 == plane_.height || x == 0 || x + 1 == plane_.width;
                        const double mean = at_border ? mean_around(plane_, map, x, y, 1)
                                                      : mean_inside(plane_, map, x, y);
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
    Array<float> values_;
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
