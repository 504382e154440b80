// SPDX-License-Identifier: Apache-2.0
#include "programs.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

#include <unistd.h>

#include <strid/base/error.hpp>

namespace strid::tool {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "strid-";

std::vector<fs::path> folders() {
    std::vector<fs::path> result;
    std::error_code error;
    if (const fs::path self = fs::read_symlink("/proc/self/exe", error); !error) {
        result.push_back(self.parent_path());
    }
    const char* const variable = std::getenv("PATH");
    std::string_view rest = variable != nullptr ? variable : "";
    while (!rest.empty()) {
        const std::string_view folder = rest.substr(0, rest.find(':'));
        if (!folder.empty()) result.emplace_back(folder);
        rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
    }
    return result;
}

bool can_be_run(const fs::path& path) {
    std::error_code error;
    return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

std::optional<std::string> find_program(const std::string& name) {
    if (name.empty() || name.find('/') != std::string::npos) return std::nullopt;
    for (const fs::path& folder : folders()) {
        const fs::path path = folder / (std::string(prefix) + name);
        if (can_be_run(path)) return path.string();
    }
    return std::nullopt;
}

std::vector<std::string> program_names() {
    std::set<std::string> names;
    for (const fs::path& folder : folders()) {
        std::error_code error;
        for (const auto& entry : fs::directory_iterator(folder, error)) {
            const std::string file = entry.path().filename().string();
            if (file.starts_with(prefix) && can_be_run(entry.path())) {
                names.insert(file.substr(prefix.size()));
            }
        }
    }
    return {names.begin(), names.end()};
}

void become(const std::string& path, char** arguments) {
    std::vector<char*> words{const_cast<char*>(path.c_str())};
    for (; *arguments != nullptr; ++arguments) words.push_back(*arguments);
    words.push_back(nullptr);
    ::execv(path.c_str(), words.data());
    throw InputOutputError(path + ": cannot be run: " + std::generic_category().message(errno));
}

}  // namespace strid::tool
