// SPDX-License-Identifier: Apache-2.0
//
// Steps that compute a value only for the rows that need it: `case` and `coalesce`.
#include <array>
#include <cstring>
#include <utility>

#include "steps.hpp"

namespace strid::table::detail {

namespace {

template <class T>
void copy_values(void* to, const Vector& from, const Selection& selection) {
    selection.each([&](std::size_t row) {
        const T value = static_cast<const T*>(from.values)[row];
        static_cast<T*>(to)[row] = from.is_null(row) ? T{} : value;
    });
}

/// Gathers the values of the branches in a register: each row is set once.
class Gathered {
  public:
    Gathered(Frame& frame, const StepPlace& place)
        : result_(frame.registers[place.result]), kind_(place.type.kind) {
        result_.validity.fill(~std::uint64_t{0});
    }
    void take(const Vector& from, const Selection& selection) {
        if (kind_ == Kind::boolean) {
            copy_values<std::uint8_t>(result_.values, from, selection);
        } else if (kind_ == Kind::text) {
            copy_values<std::string_view>(result_.values, from, selection);
        } else {
            copy_values<std::int64_t>(result_.values, from, selection);
        }
        if (from.validity == nullptr) return;
        selection.each([&](std::size_t row) {
            if (from.is_null(row)) set_null(row);
        });
    }
    [[nodiscard]] Vector vector() const {
        return {result_.values, has_nulls_ ? result_.validity.data() : nullptr};
    }

  private:
    void set_null(std::size_t row) {
        result_.validity[row / 64] &= ~(std::uint64_t{1} << (row % 64));
        has_nulls_ = true;
    }

    Register& result_;
    Kind kind_;
    bool has_nulls_ = false;
};

class CaseStep final : public Step {
  public:
    CaseStep(StepPlace place, std::vector<StepPointer> parts)
        : place_(std::move(place)), parts_(std::move(parts)) {}

    Vector run(Frame& frame, const Selection& selection) const override {
        Gathered gathered(frame, place_);
        RowList& open_rows = frame.lists[place_.list];
        RowList& chosen_rows = frame.lists[place_.list + 1];
        Selection open = selection;
        for (std::size_t i = 0; i + 1 < parts_.size() && open.count != 0; i += 2) {
            const Vector condition = parts_[i]->run(frame, open);
            const Selection chosen =
                listed(open, chosen_rows, [&](std::size_t row) { return condition.is_true(row); });
            // In place: the list that is read is as far as the one that is written, or further.
            open =
                listed(open, open_rows, [&](std::size_t row) { return !condition.is_true(row); });
            if (chosen.count != 0) gathered.take(parts_[i + 1]->run(frame, chosen), chosen);
        }
        if (open.count != 0) gathered.take(parts_.back()->run(frame, open), open);
        return gathered.vector();
    }

  private:
    StepPlace place_;
    std::vector<StepPointer> parts_;
};

class CoalesceStep final : public Step {
  public:
    CoalesceStep(StepPlace place, std::vector<StepPointer> parts)
        : place_(std::move(place)), parts_(std::move(parts)) {}

    Vector run(Frame& frame, const Selection& selection) const override {
        Gathered gathered(frame, place_);
        Selection open = selection;
        for (std::size_t i = 0; i != parts_.size() && open.count != 0; ++i) {
            const bool is_last = i + 1 == parts_.size();
            const Vector value = parts_[i]->run(frame, open);
            const Selection found =
                is_last ? open : listed(open, frame.lists[place_.list + 1], [&](std::size_t row) {
                    return !value.is_null(row);
                });
            gathered.take(value, found);
            if (is_last) break;
            open = listed(open, frame.lists[place_.list],
                          [&](std::size_t row) { return value.is_null(row); });
        }
        return gathered.vector();
    }

  private:
    StepPlace place_;
    std::vector<StepPointer> parts_;
};

class ConcatStep final : public Step {
  public:
    ConcatStep(StepPlace place, StepPointer a, StepPointer b)
        : place_(std::move(place)), a_(std::move(a)), b_(std::move(b)) {}

    Vector run(Frame& frame, const Selection& selection) const override {
        const Vector a = a_->run(frame, selection);
        const Vector b = b_->run(frame, selection);
        Register& result = frame.registers[place_.result];
        const std::uint64_t* validity = both_valid(a, b, result.validity, frame.words);
        const auto* const left = static_cast<const std::string_view*>(a.values);
        const auto* const right = static_cast<const std::string_view*>(b.values);
        auto* const to = static_cast<std::string_view*>(result.values);
        selection.each([&](std::size_t row) {
            to[row] = {};
            if (validity != nullptr && !is_set(validity, row)) return;
            const std::size_t bytes = left[row].size() + right[row].size();
            char* const room = frame.text_room(bytes);
            left[row].copy(room, left[row].size());
            right[row].copy(room + left[row].size(), right[row].size());
            to[row] = {room, bytes};
        });
        return {to, validity};
    }

  private:
    StepPlace place_;
    StepPointer a_;
    StepPointer b_;
};

}  // namespace

StepPointer case_step(StepPlace place, std::vector<StepPointer> parts) {
    return std::make_unique<CaseStep>(std::move(place), std::move(parts));
}
StepPointer coalesce_step(StepPlace place, std::vector<StepPointer> parts) {
    return std::make_unique<CoalesceStep>(std::move(place), std::move(parts));
}
StepPointer concat_step(StepPlace place, StepPointer a, StepPointer b) {
    return std::make_unique<ConcatStep>(std::move(place), std::move(a), std::move(b));
}

}  // namespace strid::table::detail
