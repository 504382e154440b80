// SPDX-License-Identifier: Apache-2.0
#include "parquet.hpp"

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include <dlfcn.h>
#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/connector/transport.hpp>

namespace strid::tool {

namespace {

namespace fs = std::filesystem;

constexpr const char* module_name = "strid-parquet.so";

/// In the folder of the build, and in that of an installed copy.
fs::path module_path() {
    std::error_code error;
    const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
    const std::array places{folder, folder.parent_path() / STRID_MODULE_FOLDER};
    for (const fs::path& place : places) {
        if (fs::exists(place / module_name, error)) return place / module_name;
    }
    return places.back() / module_name;
}

/// It stays loaded. Throws InputOutputError.
Transport loaded_transport() {
    const fs::path path = module_path();
    void* const module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* const found = module == nullptr ? nullptr : ::dlsym(module, "strid_parquet_transport");
    if (found == nullptr) {
        const char* const reason = ::dlerror();
        throw InputOutputError(
            fmt::format("files of Parquet need Apache Arrow, as in the Python package pyarrow: {}",
                        reason == nullptr ? "the module is damaged" : reason));
    }
    Transport transport;
    reinterpret_cast<void (*)(Transport&)>(found)(transport);
    return transport;
}

const Transport& parquet_transport() {
    static const Transport one = loaded_transport();
    return one;
}

}  // namespace

void use_parquet_module() {
    add_transport(
        {.scheme = "parquet",
         .is_table = true,
         .options_may_change = true,
         .input =
             [](TransportAddress address) { return parquet_transport().input(std::move(address)); },
         .output =
             [](TransportAddress address) {
                 return parquet_transport().output(std::move(address));
             }});
}

}  // namespace strid::tool
