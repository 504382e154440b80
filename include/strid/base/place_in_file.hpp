// SPDX-License-Identifier: Apache-2.0
//
// A place in a file that keeps its meaning where the file gets another name. A plain value.
#pragma once

#include <cstdint>

namespace strid {

/// A place in one file of the system, whatever its name is by now.
struct PlaceInFile {
    std::uint64_t device = 0;  ///< Of the file system.
    std::uint64_t file = 0;    ///< Its number there (inode) and its birth, mixed; 0: no file.
    std::uint64_t bytes = 0;   ///< Before the place.
    friend bool operator==(const PlaceInFile&, const PlaceInFile&) = default;
};

}  // namespace strid
