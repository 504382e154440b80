// SPDX-License-Identifier: Apache-2.0
#include "job_in_snapshot.hpp"

#include <string>

#include <fmt/format.h>

#include <strid/state/codec.hpp>

namespace strid::tool {

JobInSnapshot& JobInSnapshot::operator=(JobInSnapshot&& other) {
    take(other.plan_->format.form.load(std::memory_order_relaxed),
         other.late_ ? other.late_->header() : std::string{});
    return *this;
}

void JobInSnapshot::save(StateWriter& writer) const {
    writer.text(plan_->computation);
    state::save(writer, plan_->format.form.load(std::memory_order_relaxed));
    writer.text(late_ ? late_->header() : std::string{});
}

void JobInSnapshot::load(StateReader& reader) {
    if (const auto before = reader.text(); before != plan_->computation) {
        throw StateError(
            fmt::format("the snapshot is of another computation: of {}, where now is {}", before,
                        plan_->computation));
    }
    const auto form = state::loaded<TimeForm>(reader);
    take(form, reader.text());
}

void JobInSnapshot::take(const TimeForm& form, std::string_view header) {
    TimeForm none;
    plan_->format.form.compare_exchange_strong(none, form, std::memory_order_relaxed);
    if (late_ && !header.empty()) late_->keep_header(header);
}

}  // namespace strid::tool
