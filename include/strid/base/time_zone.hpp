// SPDX-License-Identifier: Apache-2.0
//
// Time zones: local time by the rules of the IANA database of the system (/usr/share/zoneinfo, or
// $TZDIR), also for times after the years that its tables list. Moments and local times are both
// seconds since the beginning of 1970, in UTC and by the local clock.
//
// A local time that occurs twice (when summer time ends) means the first of the two moments. A
// local time that never occurs (when summer time begins) is read with the offset before the change:
// 02:30 is the moment that clocks show as 03:30. Python (fold=0) and java.time do the same.
//
// A plain value, cheap to copy; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace strid {

/// A time zone: a value that is cheap to copy. The default is UTC. Any thread.
class TimeZone {
  public:
    /// UTC.
    TimeZone() noexcept = default;
    /// By its name in the database (`Europe/Berlin`, `UTC`) or its offset (`+02:00`, `-0530`).
    /// Throws Error if there is no such zone.
    [[nodiscard]] static TimeZone named(std::string_view name);

    /// True for UTC.
    [[nodiscard]] bool is_utc() const noexcept { return rules_ == nullptr; }
    /// The name in the IANA database, "UTC" for the default.
    [[nodiscard]] std::string name() const;

    /// How far local time is ahead of UTC at this moment, in seconds.
    [[nodiscard]] std::int64_t offset_at(std::int64_t moment) const noexcept;
    /// The moment of this local time.
    [[nodiscard]] std::int64_t moment_of(std::int64_t local) const noexcept;
    /// After how many seconds clocks show the local time of this moment once more, because they are
    /// set back; 0: never. O(log changes of the zone).
    [[nodiscard]] std::int64_t shown_again_after(std::int64_t moment) const noexcept;
    /// The offset, in seconds, that the zone names so (`CEST`, in capitals) at this local time;
    /// nothing where it has another name then.
    [[nodiscard]] std::optional<std::int64_t> offset_named(std::string_view abbreviation,
                                                           std::int64_t local) const;
    /// The first moment whose local time is not before this one: if clocks skip it, the moment at
    /// which they do.
    [[nodiscard]] std::int64_t first_moment_from(std::int64_t local) const noexcept;

  private:
    struct Rules;
    std::shared_ptr<const Rules> rules_;  // null: UTC
};

}  // namespace strid
