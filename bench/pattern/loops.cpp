// SPDX-License-Identifier: Apache-2.0
#include "loops.hpp"

#include <memory>

#ifdef STRID_BENCH_TBB
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#endif

#include <strid/pattern/parallel_for.hpp>

namespace strid::bench {

namespace {

void by_team(pattern::Team& team, const Numbers& in, Numbers& out) {
    const std::uint32_t* const a = in.data();
    std::uint32_t* const b = out.data();
    pattern::parallel_for(team, 0, in.size(), [=](std::size_t i) { b[i] = a[i] * 3 + 1; });
}

#ifdef _OPENMP
void by_openmp(const Numbers& in, Numbers& out) {
    const std::uint32_t* const a = in.data();
    std::uint32_t* const b = out.data();
    const auto size = static_cast<std::ptrdiff_t>(in.size());
#pragma omp parallel for
    for (std::ptrdiff_t i = 0; i < size; ++i) b[i] = a[i] * 3 + 1;
}
#endif

#ifdef STRID_BENCH_TBB
void by_tbb(const Numbers& in, Numbers& out) {
    const std::uint32_t* const a = in.data();
    std::uint32_t* const b = out.data();
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, in.size()),
                      [=](const tbb::blocked_range<std::size_t>& part) {
                          for (std::size_t i = part.begin(); i < part.end(); ++i) {
                              b[i] = a[i] * 3 + 1;
                          }
                      });
}
#endif

}  // namespace

std::vector<LoopContender> loop_contenders() {
    std::vector<LoopContender> all;
    auto team = std::make_shared<pattern::Team>();
    all.push_back({"ours", [team](const Numbers& in, Numbers& out) { by_team(*team, in, out); }});
#ifdef _OPENMP
    all.push_back({"OpenMP", by_openmp});
#endif
#ifdef STRID_BENCH_TBB
    all.push_back({"oneTBB", by_tbb});
#endif
    return all;
}

}  // namespace strid::bench
