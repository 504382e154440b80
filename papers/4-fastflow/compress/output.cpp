// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/engine/base/file_place.hpp>

namespace strid::compress {

namespace {

/// The result replaces a link, not what it leads to.
FilePlace place_of(const std::string& path) {
    const std::filesystem::path named(path);
    const auto above = named.has_parent_path() ? named.parent_path() : std::filesystem::path(".");
    std::error_code error;
    const auto folder = std::filesystem::canonical(above, error);
    if (error) {
        throw InputOutputError(
            fmt::format("{}: cannot open for writing: {}", path, error.message()));
    }
    return {.directory = folder.string(), .name = named.filename().string()};
}

}  // namespace

StandardOutput::StandardOutput(const std::atomic<bool>& interrupted)
    : destination_("-", Writing::live), interrupted_(interrupted) {
    destination_.open();
}

FileOutput::FileOutput(const std::string& path, const struct stat& input, bool force)
    : path_(path), file_(path, place_of(path), force ? OldFile::ignored : OldFile::refused) {
    file_.take_over(input);
}

void FileOutput::put(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(file_.descriptor(), bytes.data(), bytes.size());
        if (written >= 0) {
            bytes.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno != EINTR) {
            throw InputOutputError(
                fmt::format("{}: cannot write: {}", path_, std::generic_category().message(errno)));
        }
    }
}

}  // namespace strid::compress
