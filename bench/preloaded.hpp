// SPDX-License-Identifier: Apache-2.0
//
// Whether a library that was to be preloaded is in the place of the C library's allocator: a file
// that is missing or refuses is only a warning of the loader, and would be measured under a wrong
// name. Plain functions.
#pragma once

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>

#include <dlfcn.h>

namespace strid::bench {

/// The name of the file that a function of this process is in, without its folder.
template <class Function>
std::string library_of(Function* function) {
    Dl_info info{};
    if (dladdr(reinterpret_cast<void*>(function), &info) == 0 || info.dli_fname == nullptr) {
        return "unknown";
    }
    const std::string path = info.dli_fname;
    return path.substr(path.rfind('/') + 1);
}

[[nodiscard]] inline bool is_mapped(const std::string& library) {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        if (line.find("/" + library) != std::string::npos) return true;
    }
    return false;
}

/// Throws unless the library is mapped and malloc and free come from it. Nothing where no name is
/// given.
inline void check_library(const std::string& library) {
    if (library.empty()) return;
    if (!is_mapped(library)) {
        throw std::runtime_error(library + " is not loaded: /proc/self/maps does not have it");
    }
    for (const std::string& from : {library_of(std::malloc), library_of(std::free)}) {
        // The name that was loaded by may be a link to a longer one.
        if (from.find(library) == std::string::npos) {
            throw std::runtime_error(library + " is loaded, but malloc or free are of " + from);
        }
    }
}

}  // namespace strid::bench
