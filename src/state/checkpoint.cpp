// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <strid/state/checkpoint.hpp>

#include "snapshot_file.hpp"

namespace strid {

std::string fault_of_files(const std::string& folder, std::span<const CheckpointFile> files) {
    const auto message = [](int error) { return std::generic_category().message(error); };
    constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    const OwnedDescriptor opened(::open(folder.c_str(), flags));
    if (opened.get() < 0) return fmt::format("{}: {}", folder, message(errno));
    for (const CheckpointFile& file : files) {
        struct stat status {};
        const std::string shown = folder + '/' + file.name;
        if (::fstatat(opened.get(), file.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
            return fmt::format("{}: {}", shown, message(errno));
        }
        if (!S_ISREG(status.st_mode)) return shown + ": it is no file";
        if (static_cast<std::uint64_t>(status.st_size) != file.bytes) {
            return fmt::format("{}: it has {} bytes, and had {}", shown, status.st_size,
                               file.bytes);
        }
    }
    return {};
}

}  // namespace strid
