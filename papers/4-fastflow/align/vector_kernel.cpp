// SPDX-License-Identifier: Apache-2.0
#include "vector_kernel.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <parasail/cpuid.h>

#include <strid/base/error.hpp>

namespace strid::align {

namespace {

// Below this, a vector of 32 scores of 8 bits is padding and corrections, so that two of 16 are
// faster: 3.0 GCUPS beside 2.5 at 64 residues, 3.9 beside 3.7 here, 4.0 beside 4.1 at 128 (EPYC).
constexpr std::size_t narrow_residues_max = 112;

/// The part of parasail's names for a mode.
const char* name_of(Mode mode) {
    switch (mode) {
        case Mode::global:
            return "nw";
        case Mode::semi_global:
            return "sg_dx";  // the ends of the database's sequence are free
        case Mode::local:
            break;
    }
    return "sw";
}

}  // namespace

std::vector<VectorLevel> VectorKernel::levels(const Scoring& scoring) {
    // parasail's striped kernels end the correction of F too early where the first residue of a gap
    // costs as much as the others (Debian's 2.6; the scores are too low). Those that scan do not.
    const char* const method = scoring.gaps().open == 0 ? "scan" : "striped";
    struct Candidate {
        const char* name;
        const char* kernel;
        int (*can_use)();
    };
    constexpr Candidate candidates[] = {
        {"avx2", "avx2_256", parasail_can_use_avx2},
        {"sse41", "sse41_128", parasail_can_use_sse41},
        {"sse2", "sse2_128", parasail_can_use_sse2},
        {"neon", "neon_128", parasail_can_use_neon},
        {"altivec", "altivec_128", parasail_can_use_altivec},
    };
    std::vector<VectorLevel> levels;
    for (const Candidate& candidate : candidates) {
        if (candidate.can_use() == 0) continue;
        const auto kernel = [&](int bits) {
            const std::string name =
                fmt::format("parasail_{}_{}_profile_{}_{}", name_of(scoring.mode()), method,
                            candidate.kernel, bits);
            return parasail_lookup_pfunction_info(name.c_str());
        };
        VectorLevel level{candidate.name, kernel(8), kernel(16), kernel(32)};
        if (level.bits8 != nullptr && level.bits16 != nullptr && level.bits32 != nullptr) {
            levels.push_back(std::move(level));
        }
    }
    return levels;
}

VectorKernel::VectorKernel(const std::string& name, const Scoring& scoring) {
    const std::vector<VectorLevel> all = levels(scoring);
    if (all.empty()) throw GraphError("parasail has no vector kernel for this machine");
    if (name == "auto") {
        widest_ = all.front();
        const auto narrow = std::ranges::find_if(
            all, [](const VectorLevel& level) { return level.bits8->lanes == 16; });
        narrow_ = narrow == all.end() ? widest_ : *narrow;
        return;
    }
    const auto found = std::ranges::find(all, name, &VectorLevel::name);
    if (found == all.end()) {
        std::vector<std::string> names;
        for (const VectorLevel& level : all) names.push_back(level.name);
        throw GraphError(
            fmt::format("--vectors: this machine has {}, not {}", fmt::join(names, ", "), name));
    }
    widest_ = narrow_ = *found;
}

const VectorLevel& VectorKernel::level(std::size_t residues) const noexcept {
    return residues <= narrow_residues_max ? narrow_ : widest_;
}

}  // namespace strid::align
