// SPDX-License-Identifier: Apache-2.0
#include "file_names.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include <strid/base/error.hpp>

#include "image_form.hpp"

namespace strid::denoise {

namespace {

namespace fs = std::filesystem;

/// The number of digits that a place `%4d`, `%04d` or `%d` at the begin of `text` asks for, and its
/// length; 0: it is no place.
struct Place {
    std::size_t digits = 0;
    std::size_t length = 0;
};
Place place_at(std::string_view text) {
    std::size_t at = 1;
    std::size_t digits = 0;
    while (at < text.size() && at < 4 && text[at] >= '0' && text[at] <= '9') {
        digits = 10 * digits + static_cast<std::size_t>(text[at] - '0');
        ++at;
    }
    const bool pads = at == 1 || text[1] == '0';
    if (at == text.size() || text[at] != 'd' || !pads || digits > 20) return {};
    return {std::max<std::size_t>(digits, 1), at + 1};
}

}  // namespace

std::optional<NamePattern> NamePattern::read(std::string_view text) {
    NamePattern pattern;
    bool found = false;
    while (!text.empty()) {
        std::string& part = found ? pattern.after_ : pattern.before_;
        std::size_t length = 1;
        if (text.starts_with("%%")) {
            part += '%';
            length = 2;
        } else if (text.front() == '%') {
            const Place place = place_at(text);
            if (place.length == 0 || found) return std::nullopt;
            found = true;
            pattern.digits_ = place.digits;
            length = place.length;
        } else {
            part += text.front();
        }
        text.remove_prefix(length);
    }
    if (!found || pattern.after_.find('/') != std::string::npos) return std::nullopt;
    return pattern;
}

std::string NamePattern::name(std::uint64_t number) const {
    return fmt::format("{}{:0{}}{}", before_, number, digits_, after_);
}

std::vector<std::uint64_t> NamePattern::numbers_of_files() const {
    const std::size_t slash = before_.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : before_.substr(0, slash + 1);
    const std::string begin = slash == std::string::npos ? before_ : before_.substr(slash + 1);
    std::vector<std::uint64_t> numbers;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        const std::string file = entry.path().filename().string();
        if (file.size() <= begin.size() + after_.size() || !file.starts_with(begin)) continue;
        std::uint64_t number = 0;
        const auto read =
            std::from_chars(file.data() + begin.size(), file.data() + file.size(), number);
        if (read.ec != std::errc()) continue;
        if (begin + name(number).substr(before_.size()) == file) numbers.push_back(number);
    }
    std::ranges::sort(numbers);
    return numbers;
}

std::vector<InputFile> find_inputs(const std::vector<std::string>& words) {
    std::vector<InputFile> files;
    for (const std::string& word : words) {
        std::error_code error;
        const auto pattern = NamePattern::read(word);
        if (!pattern || fs::exists(word, error)) {
            files.push_back({word, std::nullopt});
            continue;
        }
        const auto numbers = pattern->numbers_of_files();
        if (numbers.empty()) throw InputOutputError(word + ": no file has a name like this");
        for (const std::uint64_t number : numbers) files.push_back({pattern->name(number), number});
    }
    return files;
}

std::vector<InputFile> find_references(const std::string& word,
                                       const std::vector<InputFile>& inputs) {
    if (!is_folder(word)) return find_inputs({word});
    std::vector<InputFile> files;
    for (const InputFile& input : inputs) {
        if (input.path == "-")
            throw GraphError("--reference: standard input has no name in a folder");
        files.push_back({in_folder(word, input.path), std::nullopt});
    }
    return files;
}

bool is_folder(const std::string& path) {
    std::error_code error;
    return path.ends_with('/') || fs::is_directory(path, error);
}

std::string result_in_folder(const std::string& folder, const std::string& path) {
    return lossless_name(in_folder(folder, path));
}

std::string in_folder(const std::string& folder, const std::string& path) {
    return (fs::path(folder) / fs::path(path).filename()).string();
}

}  // namespace strid::denoise
