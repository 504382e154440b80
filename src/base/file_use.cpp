// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <optional>

#include <limits.h>

#include <strid/base/error.hpp>
#include <strid/base/file_use.hpp>
#include <strid/engine/base/file_place.hpp>

namespace strid {

namespace {

struct Used {
    const FileUse* use;
    FileIdentity identity;
    bool is_beside;  // the temporary name
};

bool writes(const Used& used) noexcept {
    return used.use->kind == FileUse::Kind::writes;
}

void add(std::vector<Used>& all, const FileUse& use) {
    const bool reads = use.kind == FileUse::Kind::reads;
    const auto dash = reads ? StandardStream::input : StandardStream::output;
    auto own = identity_of(use.path, dash);
    if (!own) return;  // a pipe, a device
    all.push_back({&use, std::move(*own), false});
    if (!use.beside || use.path == "-") return;
    const auto place = find_place(use.path);
    if (!place || place->descriptor >= 0) return;
    const std::string beside = place->beside(temporary_name(place->name));
    if (auto identity = identity_of(beside, dash)) {
        all.push_back({&use, std::move(*identity), true});
    }
}

std::string named(const FileUse& use) {
    if (use.path != "-") return "'" + use.path + "'";
    return use.kind == FileUse::Kind::reads ? "standard input" : "standard output";
}

/// "'a.csv' (written as 'a.csv.strid-partial' until it is whole)"
std::string named(const Used& used) {
    if (!used.is_beside) return named(*used.use);
    return named(*used.use) + " (under another name in its folder until it is whole)";
}

[[noreturn]] void refuse(const Used& writer, const Used& other) {
    if (writes(other)) {
        throw GraphError(writer.use->user + " writes to " + named(writer) + " and " +
                         other.use->user + " to " + named(other) +
                         ", which is the same file: each needs one of its own");
    }
    throw GraphError(writer.use->user + " would write to " + named(writer) + ", the file that " +
                     other.use->user + " reads" +
                     (other.use->path == writer.use->path ? "" : " as " + named(other)) +
                     ": name another file");
}

}  // namespace

std::string temporary_name(std::string_view name) {
    constexpr std::string_view ending = ".strid-partial";
    std::string result(name);
    if (name.size() + ending.size() > NAME_MAX) {  // cut, with a hash (FNV-1a) to keep it unique
        std::uint64_t hash = 0xcbf29ce484222325U;
        for (const char c : name) {
            hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
        }
        const std::string digits = std::to_string(hash);
        result.resize(NAME_MAX - ending.size() - digits.size());
        result += digits;
    }
    return result += ending;
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
            const bool one = first.use == second.use || (first.use->shared != nullptr &&
                                                         first.use->shared == second.use->shared);
            if (one) continue;
            if (writes(first)) refuse(first, second);
            refuse(second, first);
        }
    }
}

}  // namespace strid
