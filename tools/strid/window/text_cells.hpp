// SPDX-License-Identifier: Apache-2.0
//
// The state of a window for texts: one that the time or another column chooses, those that come
// most often, all of them. Text is copied, to memory that is used again (memory/recycling.hpp).
//
// Where rows are of the same time, the one that came first counts as the earlier. Panes do not
// overlap in time, so that parts combine to what the rows together would give.
//
// Each has a codec (strid/state/codec.hpp) and a default constructor for it. Its kind and length
// are saved with it, because it is loaded without the plan.
//
// Threads: as any state of an aggregate.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include <strid/base/hash.hpp>
#include <strid/base/time.hpp>
#include <strid/engine/connector/csv_row.hpp>
#include <strid/memory/recycling.hpp>
#include <strid/state/codec.hpp>

#include "table_number.hpp"
#include "table_plan.hpp"

namespace strid::tool {

using KeptText = std::basic_string<char, std::char_traits<char>, memory::RecyclingAllocator<char>>;

/// The text of the first or last row, or of the row with the smallest or largest number: of those
/// with the same number the earliest.
class ChosenText {
  public:
    ChosenText() = default;
    explicit ChosenText(CellKind kind) : kind_(kind) {}

    void take(std::string_view text, EventTime time, const TableNumber& by) {
        if (is_present_ && !replaces(time, by)) return;
        is_present_ = true;
        text_ = text;
        time_ = time;
        by_ = by;
    }
    void merge(const ChosenText& newer) {
        if (newer.is_present_) take(newer.text_, newer.time_, newer.by_);
    }
    void append(std::string& out) const {
        if (is_present_) append_csv_field(out, text_, ',');
    }
    void save(StateWriter& writer) const {
        state::save(writer, std::tie(kind_, is_present_, time_, text_));
        if (is_by_number()) state::save(writer, by_);
    }
    void load(StateReader& reader) {
        auto parts = std::tie(kind_, is_present_, time_, text_);
        state::load(reader, parts);
        if (is_by_number()) state::load(reader, by_);
    }

  private:
    [[nodiscard]] bool is_by_number() const noexcept {
        return kind_ == CellKind::min_by || kind_ == CellKind::max_by;
    }
    [[nodiscard]] bool replaces(EventTime time, const TableNumber& by) const noexcept {
        if (kind_ == CellKind::first) return time < time_;
        if (kind_ == CellKind::last) return time >= time_;
        const int order = compare(by, by_);
        if (order == 0) return time < time_;
        return (order < 0) == (kind_ == CellKind::min_by);
    }

    CellKind kind_ = CellKind::first;
    bool is_present_ = false;
    EventTime time_;
    TableNumber by_{};  // not of the first and the last
    KeptText text_;
};

/// Elements of a list as one field: its text is a row of CSV.
class ListField {
  public:
    void add(std::string_view element) {
        if (!std::exchange(is_first_, false)) row_ += ',';
        append_csv_field(row_, element, ',');
    }
    void append(std::string& out) const { append_csv_field(out, row_, ','); }

  private:
    std::string row_;
    bool is_first_ = true;
};

/// How often each text came. Of texts that came as often the alphabetically first is the first.
class FrequentTexts {
  public:
    void add(std::string_view text) { ++count_of(text); }
    void merge(const FrequentTexts& newer) {
        for (const auto& [text, count] : newer.counts_) count_of(text) += count;
    }
    /// O(texts).
    void append(std::string& out, std::size_t length) const {
        using Entry = std::pair<std::uint64_t, std::string_view>;
        std::vector<Entry> entries;
        for (const auto& [text, count] : counts_) entries.emplace_back(count, text);
        const auto end =
            entries.begin() + static_cast<std::ptrdiff_t>(std::min(length, entries.size()));
        std::partial_sort(entries.begin(), end, entries.end(), [](const Entry& a, const Entry& b) {
            return a.first != b.first ? a.first > b.first : a.second < b.second;
        });
        ListField field;
        for (auto at = entries.begin(); at != end; ++at) field.add(at->second);
        field.append(out);
    }
    auto state() { return std::tie(counts_); }

  private:
    struct Hash {
        using is_avalanching = void;
        using is_transparent = void;
        std::uint64_t operator()(std::string_view text) const noexcept { return hash_of(text); }
    };
    std::uint64_t& count_of(std::string_view text) {
        const auto found = counts_.find(text);
        return found != counts_.end() ? found->second
                                      : counts_.emplace(KeptText(text), 0).first->second;
    }

    boost::unordered_flat_map<KeptText, std::uint64_t, Hash, std::equal_to<>,
                              memory::RecyclingAllocator<std::pair<const KeptText, std::uint64_t>>>
        counts_;
};

/// The earliest texts, in the order of time.
class CollectedTexts {
  public:
    CollectedTexts() = default;
    explicit CollectedTexts(std::size_t length) : length_(length) {}

    /// O(1) for the latest, else O(length).
    void add(std::string_view text, EventTime time) {
        const auto behind =
            std::upper_bound(texts_.begin(), texts_.end(), time,
                             [](EventTime at, const Timed& one) { return at < one.time; });
        if (texts_.size() == length_) {
            is_cut_ = true;
            if (behind == texts_.end()) return;
        }
        texts_.insert(behind, {time, KeptText(text)});
        if (texts_.size() > length_) texts_.pop_back();
    }
    /// O(length).
    void merge(const CollectedTexts& newer) {
        for (const Timed& one : newer.texts_) add(one.text, one.time);
        is_cut_ = is_cut_ || newer.is_cut_;
    }
    void append(std::string& out) const {
        ListField field;
        for (const Timed& one : texts_) field.add(one.text);
        if (is_cut_) field.add("...");
        field.append(out);
    }
    auto state() { return std::tie(length_, is_cut_, texts_); }

  private:
    struct Timed {
        EventTime time;
        KeptText text;
    };

    std::size_t length_ = 0;
    bool is_cut_ = false;  // there were more
    std::vector<Timed, memory::RecyclingAllocator<Timed>> texts_;
};

/// The largest or smallest numbers, in that order.
class LeadingNumbers {
  public:
    LeadingNumbers() = default;
    LeadingNumbers(CellKind kind, std::size_t length)
        : is_largest_(kind == CellKind::largest), length_(length) {}

    /// O(length) for a number that is among them, else O(1).
    void add(const TableNumber& number) {
        const auto before = [this](const TableNumber& a, const TableNumber& b) {
            const int order = compare(a, b);
            // Of an integer and a decimal that are the same, the integer.
            if (order == 0) return a.kind != b.kind && b.kind == ValueKind::decimal;
            return is_largest_ == (order > 0);
        };
        if (numbers_.size() == length_) {
            if (!before(number, numbers_.back())) return;
            numbers_.pop_back();
        }
        numbers_.insert(std::upper_bound(numbers_.begin(), numbers_.end(), number, before), number);
    }
    void merge(const LeadingNumbers& newer) {
        for (const TableNumber& number : newer.numbers_) add(number);
    }
    void append(std::string& out) const {
        ListField field;
        for (const TableNumber& number : numbers_) {
            std::string text;
            append_number(text, number);
            field.add(text);
        }
        field.append(out);
    }
    auto state() { return std::tie(is_largest_, length_, numbers_); }

  private:
    bool is_largest_ = false;
    std::size_t length_ = 0;
    std::vector<TableNumber, memory::RecyclingAllocator<TableNumber>> numbers_;
};

}  // namespace strid::tool
