// SPDX-License-Identifier: Apache-2.0
#include "part_set.hpp"

#include <algorithm>
#include <iterator>

#include <unistd.h>

namespace strid::parquet {

namespace {

/// So many parts are open at once; behind them the longest ends.
constexpr std::size_t open_max = 100;
/// They hold so much text together.
constexpr std::uint64_t all_held_bytes_most = std::uint64_t{128} << 20;
constexpr std::uint64_t rows_between_looks = 4'096;

}  // namespace

void PartSet::append(const std::shared_ptr<const PartForm>& form, const std::string& folder,
                     const std::vector<FieldText>& fields) {
    auto found = open_.find(folder);
    if (found == open_.end()) {
        if (open_.size() == open_max) {
            finish(std::max_element(open_.begin(), open_.end(), [](const auto& a, const auto& b) {
                return a.second.part->rows() < b.second.part->rows();
            }));
        }
        found = open_.emplace(folder, Open{std::make_unique<Part>(form, new_path_()), Clock::now()})
                    .first;
    }
    Part& part = *found->second.part;
    part.append(fields);
    if (part.rows() == limits_.rows || part.bytes() >= limits_.bytes) finish(found);
    if (++appended_ % rows_between_looks == 0) make_room();
}

void PartSet::make_room() {
    std::uint64_t held = 0;
    for (const auto& [folder, open] : open_) held += open.part->held_bytes();
    if (held < all_held_bytes_most) return;
    for (auto& [folder, open] : open_) open.part->end_group();
}

PartSet::Opened::iterator PartSet::finish(Opened::iterator at) {
    at->second.part->finish();
    take_(at->second.part->path(), at->first);
    return open_.erase(at);
}

void PartSet::forget() noexcept {
    for (const auto& [folder, open] : open_) ::unlink(open.part->path().c_str());
    open_.clear();
}

void PartSet::finish_all() {
    while (!open_.empty()) finish(open_.begin());
}

void PartSet::finish_usable() noexcept {
    for (auto at = open_.begin(); at != open_.end();) {
        try {
            if (at->second.part->rows() != 0) {
                at = finish(at);
                continue;
            }
        } catch (...) {  // the run has failed already
        }
        ::unlink(at->second.part->path().c_str());
        at = open_.erase(at);
    }
}

void PartSet::finish_old(Clock::time_point now) {
    for (auto at = open_.begin(); at != open_.end();) {
        at = now - at->second.begun >= limits_.age ? finish(at) : std::next(at);
    }
}

}  // namespace strid::parquet
