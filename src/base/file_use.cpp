// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <system_error>

#include <limits.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/base/file_use.hpp>
#include <strid/engine/base/file_place.hpp>

namespace strid {

namespace {

constexpr std::size_t random_letters = 10;

struct Used {
    const FileUse* use;
    FileIdentity identity;
};

bool writes(const Used& used) noexcept {
    return used.use->kind == FileUse::Kind::writes;
}

void add(std::vector<Used>& all, const FileUse& use) {
    const bool reads = use.kind == FileUse::Kind::reads;
    auto own = identity_of(use.path, reads ? StandardStream::input : StandardStream::output);
    if (own) all.push_back({&use, std::move(*own)});  // not a pipe, a device
}

std::string named(const FileUse& use) {
    if (use.path != "-") return "'" + use.path + "'";
    return use.kind == FileUse::Kind::reads ? "standard input" : "standard output";
}

[[noreturn]] void refuse(const FileUse& writer, const FileUse& other) {
    if (other.kind == FileUse::Kind::writes) {
        throw GraphError(writer.user + " writes to " + named(writer) + " and " + other.user +
                         " to " + named(other) +
                         ", which is the same file: each needs one of its own");
    }
    throw GraphError(writer.user + " would write to " + named(writer) + ", the file that " +
                     other.user + " reads" +
                     (other.path == writer.path ? "" : " as " + named(other)) +
                     ": name another file");
}

bool is_one(const FileUse& first, const FileUse& second) noexcept {
    return &first == &second || (first.shared != nullptr && first.shared == second.shared);
}

/// A file that a killed run left, which the next writer of the same file removes.
void check_temporary(const std::vector<FileUse>& uses) {
    for (const FileUse& writer : uses) {
        if (!writer.beside || writer.path == "-") continue;
        const auto place = find_place(writer.path);
        if (!place || place->descriptor >= 0) continue;
        for (const FileUse& other : uses) {
            if (!other.path.ends_with(temporary_ending)) continue;
            const auto there = find_place(other.path);
            if (!there || there->directory != place->directory) continue;
            if (is_temporary_name(there->name, place->name)) refuse(writer, other);
        }
    }
}

std::string random_text() {
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz234567";
    std::array<unsigned char, random_letters> bytes{};
    if (::getentropy(bytes.data(), bytes.size()) != 0) {
        throw InputOutputError("cannot make a temporary name: " +
                               std::generic_category().message(errno));
    }
    std::string text;
    for (const unsigned char byte : bytes) text += letters[byte % letters.size()];
    return text;
}

/// The name, cut, with a hash (FNV-1a) to keep it unique, where the rest would not fit.
std::string stem_of(std::string_view name) {
    constexpr std::size_t rest = 1 + random_letters + unfinished_ending.size();
    std::string result(name);
    if (name.size() + rest <= NAME_MAX) return result;
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    const std::string digits = std::to_string(hash);
    result.resize(NAME_MAX - rest - digits.size());
    return result += digits;
}

/// Whether it is the name, random letters and the ending.
bool is_beside(std::string_view beside, std::string_view name, std::string_view ending) {
    const std::string stem = stem_of(name) + '.';
    if (beside.size() != stem.size() + random_letters + ending.size()) return false;
    const std::string_view middle = beside.substr(stem.size(), random_letters);
    return beside.starts_with(stem) && beside.ends_with(ending) &&
           std::all_of(middle.begin(), middle.end(),
                       [](char c) { return (c >= 'a' && c <= 'z') || (c >= '2' && c <= '7'); });
}

}  // namespace

std::string temporary_name(std::string_view name) {
    return stem_of(name) + '.' + random_text() + std::string(temporary_ending);
}

std::string unfinished_name(std::string_view name) {
    return stem_of(name) + '.' + random_text() + std::string(unfinished_ending);
}

std::string temporary_pattern(std::string_view name) {
    return stem_of(name) + ".*" + std::string(temporary_ending);
}

bool is_temporary_name(std::string_view temporary, std::string_view name) {
    return is_beside(temporary, name, temporary_ending);
}

bool is_unfinished_name(std::string_view unfinished, std::string_view name) {
    return is_beside(unfinished, name, unfinished_ending);
}

void check_files(const std::vector<FileUse>& uses) {
    std::vector<Used> all;
    for (const FileUse& use : uses) add(all, use);
    for (std::size_t i = 0; i < all.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            const Used& first = all[j];
            const Used& second = all[i];
            if (!(first.identity == second.identity)) continue;
            if (!writes(first) && !writes(second)) continue;
            if (is_one(*first.use, *second.use)) continue;
            if (writes(first)) refuse(*first.use, *second.use);
            refuse(*second.use, *first.use);
        }
    }
    check_temporary(uses);
}

}  // namespace strid
