// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "decimal.hpp"
#include "steps.hpp"
#include "value_text.hpp"

namespace strid::table::detail {

namespace {

constexpr const char* beyond_type = "is beyond the type";
constexpr double int64_end = 0x1p63;

/// Half away from zero. Empty: beyond int64, or no number.
std::optional<std::int64_t> nearest_integer(double value) {
    const double rounded = std::round(value);
    if (!(rounded >= -int64_end && rounded < int64_end)) return std::nullopt;
    return static_cast<std::int64_t>(rounded);
}

class CastStep final : public Step {
  public:
    CastStep(StepPlace place, Type from, bool is_compared, StepPointer part)
        : place_(std::move(place)),
          from_(from),
          to_(place_.type),
          is_compared_(is_compared),
          part_(std::move(part)) {}

    Vector run(Frame& frame, const Selection& selection) const override {
        const Vector part = part_->run(frame, selection);
        Register& result = frame.registers[place_.result];
        const std::uint64_t* validity = both_valid(part, {}, result.validity, frame.words);
        if (to_.kind == Kind::text) {
            write_texts(frame, selection, part, validity);
        } else if (from_.kind == Kind::text) {
            read_texts(frame, selection, part, validity);
        } else if (to_.kind == Kind::float64) {
            to_doubles(result.values, selection, part.values);
        } else if (to_.kind == Kind::boolean) {
            each<std::int64_t, std::uint8_t>(
                frame, selection, part, validity,
                [](std::int64_t value) -> std::optional<std::uint8_t> { return value != 0; });
        } else if (from_.kind == Kind::float64) {
            from_doubles(frame, selection, part, validity);
        } else {
            from_integers(frame, selection, part, validity);
        }
        return {result.values, validity};
    }

  private:
    /// `cast(value)` is empty for a fault.
    template <class From, class To, class Cast>
    void each(Frame& frame, const Selection& selection, const Vector& part,
              const std::uint64_t*& validity, const Cast& cast) const {
        const auto* const from = static_cast<const From*>(part.values);
        auto* const to = static_cast<To*>(frame.registers[place_.result].values);
        selection.each([&](std::size_t row) {
            const std::optional<To> value = cast(from[row]);
            to[row] = value.value_or(To{});
            if (!value && !part.is_null(row)) refuse(frame, row, part, beyond_type, validity);
        });
    }

    void to_doubles(void* to, const Selection& selection, const void* from) const {
        const auto* const units = static_cast<const std::int64_t*>(from);
        auto* const doubles = static_cast<double*>(to);
        const auto unit = static_cast<double>(powers_of_ten[from_.scale]);
        selection.each(
            [&](std::size_t row) { doubles[row] = static_cast<double>(units[row]) / unit; });
    }

    void from_doubles(Frame& frame, const Selection& selection, const Vector& part,
                      const std::uint64_t*& validity) const {
        each<double, std::int64_t>(frame, selection, part, validity, [this](double value) {
            return to_.kind == Kind::decimal ? decimal_of(value, to_.scale)
                                             : nearest_integer(value);
        });
    }

    void from_integers(Frame& frame, const Selection& selection, const Vector& part,
                       const std::uint64_t*& validity) const {
        if (from_.kind == Kind::boolean) {
            each<std::uint8_t, std::int64_t>(
                frame, selection, part, validity,
                [](std::uint8_t value) { return std::optional<std::int64_t>{value}; });
            return;
        }
        each<std::int64_t, std::int64_t>(
            frame, selection, part, validity, [this](std::int64_t units) {
                const auto result = rescaled(units, from_.scale, to_.scale);
                if (result || !is_compared_) return result;
                return std::optional{units < 0 ? -decimal_bound : decimal_bound};
            });
    }

    void write_texts(Frame& frame, const Selection& selection, const Vector& part,
                     const std::uint64_t* validity) const {
        auto* const to = static_cast<std::string_view*>(frame.registers[place_.result].values);
        std::string text;
        selection.each([&](std::size_t row) {
            to[row] = {};
            if (validity != nullptr && !is_set(validity, row)) return;
            text.clear();
            append_value(text, from_, part.values, row);
            char* const room = frame.text_room(text.size());
            text.copy(room, text.size());
            to[row] = {room, text.size()};
        });
    }

    void read_texts(Frame& frame, const Selection& selection, const Vector& part,
                    const std::uint64_t*& validity) const {
        const auto* const texts = static_cast<const std::string_view*>(part.values);
        void* const to = frame.registers[place_.result].values;
        selection.each([&](std::size_t row) {
            if (part.is_null(row)) {
                // A NULL has a value that may be read.
                if (to_.kind == Kind::boolean) static_cast<std::uint8_t*>(to)[row] = 0;
                return;
            }
            const char* const fault = read_value(texts[row], to_, to, row);
            if (fault != nullptr) refuse(frame, row, part, fault, validity);
        });
    }

    void refuse(Frame& frame, std::size_t row, const Vector& part, const char* fault,
                const std::uint64_t*& validity) const {
        std::string text;
        append_value(text, from_, part.values, row);
        take_fault(frame, place_, row, fmt::format("\"{}\": {}", text, fault), validity);
    }

    StepPlace place_;
    Type from_;
    Type to_;
    bool is_compared_;
    StepPointer part_;
};

}  // namespace

bool may_cast_fail(Type from, Type to, bool is_compared) noexcept {
    if (to.kind == Kind::text || to.kind == Kind::float64) return from.kind == Kind::text;
    if (from.kind == Kind::text || from.kind == Kind::float64) return true;
    // An int64 may have more digits than a decimal.
    const bool may_grow = from.kind == Kind::int64 || to.scale > from.scale;
    return to.kind == Kind::decimal && may_grow && !is_compared;
}

StepPointer cast_step(StepPlace place, Type from, bool is_compared, StepPointer part) {
    return std::make_unique<CastStep>(std::move(place), from, is_compared, std::move(part));
}

}  // namespace strid::table::detail
