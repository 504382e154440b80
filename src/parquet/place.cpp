// SPDX-License-Identifier: Apache-2.0
#include "place.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>

#include <strid/base/error.hpp>

namespace strid::parquet {

namespace {

namespace fs = std::filesystem;

int digit_of(char c) noexcept {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

bool is_hidden(const fs::path& path) {
    const std::string name = path.filename().string();
    return name.starts_with('.') || name.starts_with('_');
}

bool is_read(std::string_view path) noexcept {
    return path.ends_with(".parquet") || is_arrow_file(path);
}

std::vector<PathValue> values_of(const fs::path& below) {
    std::vector<PathValue> values;
    for (const fs::path& part : below.parent_path()) {
        const std::string text = part.string();
        const std::size_t sign = text.find('=');
        if (sign == std::string::npos || sign == 0) continue;
        const std::string_view value = std::string_view(text).substr(sign + 1);
        std::optional<std::string> meant;
        if (value != null_folder) meant = text_of_part(value);
        values.emplace_back(text_of_part(text.substr(0, sign)), std::move(meant));
    }
    return values;
}

[[noreturn]] void fail_of(const std::string& path, const std::error_code& error) {
    throw InputOutputError(fmt::format("{}: cannot read: {}", path, error.message()));
}

struct stat status_of(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) fail_of(path, {errno, std::generic_category()});
    return status;
}

/// A pipe would be waited for.
void check_is_plain(const std::string& path) {
    if (S_ISREG(status_of(path).st_mode)) return;
    throw InputOutputError(path + ": not a plain file");
}

/// Rows of a folder that a link leads to once more would count twice, or for ever.
void check_is_new(std::set<std::pair<::dev_t, ::ino_t>>& folders, const std::string& path) {
    const struct stat status = status_of(path);
    if (folders.emplace(status.st_dev, status.st_ino).second) return;
    throw InputOutputError(path + ": the folder would be read twice: a link leads to it");
}

}  // namespace

std::string path_of(const TransportAddress& address) {
    std::string path = address.decoded_place();
    if (path.starts_with("//")) {
        if (!path.starts_with("///")) {
            address.refuse(
                "the address of files is parquet:PATH or parquet:///PATH, of this machine");
        }
        path.erase(0, 2);
    }
    if (path.empty()) address.refuse("the address of files is parquet:PATH");
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    return path;
}

std::vector<std::string> names_of_list(const std::string& list) {
    if (list.empty()) return {};
    return names_in_row(list + '\n');
}

bool is_arrow_file(std::string_view path) noexcept {
    return path.ends_with(".arrow") || path.ends_with(".feather");
}

std::vector<InputFile> files_at(const std::string& path) {
    std::error_code error;
    const bool is_folder = fs::is_directory(path, error);
    if (error) fail_of(path, error);
    if (!is_folder) {
        check_is_plain(path);
        return {{.path = path}};
    }
    std::vector<InputFile> files;
    std::set<std::pair<::dev_t, ::ino_t>> folders;
    check_is_new(folders, path);
    fs::recursive_directory_iterator at(path, fs::directory_options::follow_directory_symlink,
                                        error);
    for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
        if (is_hidden(at->path())) {
            at.disable_recursion_pending();
            continue;
        }
        std::error_code of_status;
        if (at->is_directory(of_status)) {
            check_is_new(folders, at->path().string());
        } else if (is_read(at->path().string())) {
            check_is_plain(at->path().string());
            files.push_back({at->path().string(), values_of(at->path().lexically_relative(path))});
        }
    }
    if (error) fail_of(path, error);
    if (files.empty()) {
        throw InputOutputError(path + ": the folder has no files that end in .parquet or .arrow");
    }
    std::sort(files.begin(), files.end(),
              [](const InputFile& a, const InputFile& b) { return a.path < b.path; });
    return files;
}

std::string path_part(std::string_view text) {
    std::string part;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        const bool is_plain = byte >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                              (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.';
        if (is_plain) {
            part += c;
        } else {
            part += fmt::format("%{:02X}", byte);
        }
    }
    return part;
}

std::string text_of_part(std::string_view part) {
    std::string plain;
    for (std::size_t i = 0; i < part.size(); ++i) {
        const bool may_be = part[i] == '%' && i + 2 < part.size();
        const int high = may_be ? digit_of(part[i + 1]) : -1;
        const int low = may_be ? digit_of(part[i + 2]) : -1;
        if (high < 0 || low < 0) {
            plain += part[i];
            continue;
        }
        plain += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return plain;
}

std::string reason_of_error(int error) {
    return std::error_code(error, std::generic_category()).message();
}

std::string reason_of_status(const arrow::Status& status) {
    std::string reason = status.message();
    std::replace(reason.begin(), reason.end(), '\n', ' ');
    while (reason.ends_with('.') || reason.ends_with(' ')) reason.pop_back();
    return reason;
}

void fail(const std::string& path, const arrow::Status& status) {
    throw InputOutputError(path + ": " + reason_of_status(status));
}

}  // namespace strid::parquet
