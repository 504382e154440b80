// SPDX-License-Identifier: Apache-2.0
//
// Which of parasail's kernels scores a pair: the striped one (Farrar 2007) of the mode with the
// vectors that the machine has, or that of prefix scans (Daily 2016) where the striped one is
// wrong. Constant once made; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <parasail.h>

#include "scoring.hpp"

namespace strid::align {

/// The kernels of one kind of vector, for scores of 8, 16 and 32 bits.
struct VectorLevel {
    std::string name;  ///< "avx2"
    const parasail_pfunction_info_t* bits8;
    const parasail_pfunction_info_t* bits16;
    const parasail_pfunction_info_t* bits32;
};

class VectorKernel {
  public:
    /// `name` of one of levels(), or "auto". Throws GraphError for one that is not there.
    VectorKernel(const std::string& name, const Scoring& scoring);

    /// The level for a query of so many residues.
    [[nodiscard]] const VectorLevel& level(std::size_t residues) const noexcept;
    /// Of the longest queries.
    [[nodiscard]] const std::string& name() const noexcept { return widest_.name; }

    /// Those that parasail and this machine have, widest first.
    [[nodiscard]] static std::vector<VectorLevel> levels(const Scoring& scoring);

  private:
    VectorLevel widest_;
    VectorLevel narrow_;
};

}  // namespace strid::align
