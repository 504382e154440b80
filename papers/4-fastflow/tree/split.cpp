// SPDX-License-Identifier: Apache-2.0
//
// Counts are whole numbers where all weights are 1, and n log n comes from a table then.
#include "split.hpp"

#include <algorithm>
#include <cmath>

namespace strid::tree {

namespace {

constexpr double cut_cases_max = 25;
constexpr double cut_part = 0.1;

struct Unit {
    using Count = std::uint32_t;
    static constexpr Count of(const Cases& /*cases*/, std::uint32_t /*item*/) noexcept { return 1; }
    static std::vector<Count>& memory(Scratch& scratch) noexcept { return scratch.counts; }
};
struct Weighted {
    using Count = double;
    static Count of(const Cases& cases, std::uint32_t item) noexcept { return cases.weights[item]; }
    static std::vector<Count>& memory(Scratch& scratch) noexcept { return scratch.weights; }
};

/// Sums of n log n over the classes.
template <class Count>
double n_log_n_sum(const Training& training, std::span<const Count> counts) noexcept {
    double sum = 0;
    for (const Count count : counts) sum += training.n_log_n(count);
    return sum;
}

/// The search for the best cut of one numeric attribute.
template <class Weight>
class CutSearch {
  public:
    using Count = typename Weight::Count;

    CutSearch(const Training& training, const Cases& cases, double total,
              std::span<const Entry> order, Scratch& scratch)
        : training_(training), cases_(cases), order_(order), total_(total) {
        auto& memory = Weight::memory(scratch);
        memory.assign(2 * training.classes(), Count{});
        low_ = {memory.data(), training.classes()};
        all_ = {memory.data() + training.classes(), training.classes()};
    }

    Candidate best() {
        Candidate found;
        found.is_constant = order_.empty() || order_.front().code == order_.back().code;
        if (found.is_constant) return found;
        for (const Entry& entry : order_) {
            const Count weight = Weight::of(cases_, entry.item);
            all_[cases_.classes[entry.item]] += weight;
            known_ += weight;
        }
        const auto known = static_cast<double>(known_);
        if (known < 2 * training_.options().cases_min - Training::rounding) return found;
        known_part_ = known / total_;
        base_ = (training_.n_log_n(known_) - n_log_n_sum<Count>(training_, all_)) / known;
        search();
        if (tries_ == 0) return found;
        const double gain = gain_ - std::log2(static_cast<double>(tries_)) / total_;
        if (gain <= Training::rounding) return found;
        found.is_possible = true;
        found.gain = gain;
        found.split_info = split_info();
        found.code = order_[at_].code;
        found.next_code = order_[at_ + 1].code;
        return found;
    }

  private:
    // Release 8: a branch has a tenth of the mean share of a class, between cases_min and 25.
    [[nodiscard]] double least() const noexcept {
        const double part =
            cut_part * static_cast<double>(known_) / static_cast<double>(training_.classes());
        const double cases_min = training_.options().cases_min;
        return part <= cases_min ? cases_min : std::min(part, cut_cases_max);
    }

    void search() {
        const double least_below = least() - Training::rounding;
        const double most_below = static_cast<double>(known_) - least() + Training::rounding;
        Count below{};
        bool is_pure = true;  // the group of equal numbers that ends at i
        std::size_t first = 0;
        for (std::size_t i = 0; i + 1 < order_.size(); ++i) {
            const Entry entry = order_[i];
            const ClassCode kind = cases_.classes[entry.item];
            const Count weight = Weight::of(cases_, entry.item);
            below += weight;
            low_[kind] += weight;
            is_pure = is_pure && kind == cases_.classes[order_[first].item];
            if (entry.code == order_[i + 1].code) continue;
            const bool pure = is_pure;
            is_pure = true;
            first = i + 1;
            const auto weight_below = static_cast<double>(below);
            if (weight_below < least_below) continue;
            if (weight_below > most_below) break;
            ++tries_;
            if (pure && tries_ > 1 && is_inside_a_class(i, kind, weight_below, most_below))
                continue;
            consider(i, below);
        }
    }

    // Between two cases of one class no cut is best (Fayyad and Irani 1992), unless it is the first
    // or the last that is allowed.
    [[nodiscard]] bool is_inside_a_class(std::size_t i, ClassCode kind, double below,
                                         double most_below) const noexcept {
        if (i + 2 >= order_.size()) return false;
        const Entry next = order_[i + 1];
        return cases_.classes[next.item] == kind && order_[i + 2].code != next.code &&
               below + static_cast<double>(Weight::of(cases_, next.item)) <= most_below;
    }

    void consider(std::size_t i, Count below) {
        double info = training_.n_log_n(below) + training_.n_log_n(known_ - below);
        for (std::size_t c = 0; c < low_.size(); ++c) {
            info -= training_.n_log_n(low_[c]) + training_.n_log_n(all_[c] - low_[c]);
        }
        const double gain = known_part_ * (base_ - info / static_cast<double>(known_));
        if (gain > gain_ + tie) {
            gain_ = gain;
            at_ = i;
            below_ = below;
        }
    }

    [[nodiscard]] double split_info() const noexcept {
        const double unknown = total_ - static_cast<double>(known_);
        return (training_.n_log_n(total_) - training_.n_log_n(unknown) - training_.n_log_n(below_) -
                training_.n_log_n(known_ - below_)) /
               total_;
    }

    // Gains that differ by less are equal, and the first is taken.
    static constexpr double tie = 1e-10;

    const Training& training_;
    const Cases& cases_;
    std::span<const Entry> order_;
    double total_;
    std::span<Count> low_;
    std::span<Count> all_;
    Count known_{};
    double known_part_ = 0;
    double base_ = 0;
    std::uint64_t tries_ = 0;
    double gain_ = 0;
    std::size_t at_ = 0;
    Count below_{};
};

/// The sums of the values of a categorical attribute, one value at a time.
template <class Count>
struct ValueSums {
    double known = 0;
    double value_info = 0;  // of the sizes of the values
    double class_info = 0;  // of the classes within the values
    std::size_t values = 0;
    std::size_t large_values = 0;

    void add(const Training& training, std::span<const Count> counts) {
        Count size{};
        for (const Count count : counts) size += count;
        const auto weight = static_cast<double>(size);
        known += weight;
        value_info += training.n_log_n(size);
        class_info += n_log_n_sum<Count>(training, counts);
        ++values;
        if (weight >= training.options().cases_min - Training::rounding) ++large_values;
    }
};

/// Counts by value and class in a table.
template <class Weight>
void sum_densely(const Training& training, const Cases& cases, std::span<const std::uint32_t> codes,
                 std::size_t values, Scratch& scratch, std::span<typename Weight::Count> known,
                 ValueSums<typename Weight::Count>& sums) {
    using Count = typename Weight::Count;
    const std::size_t classes = training.classes();
    std::vector<Count>& table = Weight::memory(scratch);
    table.assign(values * classes, Count{});
    scratch.items.assign(values, 0);  // cases of each value, which may weigh nothing
    for (std::size_t item = 0; item < cases.size(); ++item) {
        const std::uint32_t code = codes[cases.rows[item]];
        if (code == missing_code) continue;
        const Count weight = Weight::of(cases, static_cast<std::uint32_t>(item));
        table[code * classes + cases.classes[item]] += weight;
        known[cases.classes[item]] += weight;
        ++scratch.items[code];
    }
    for (std::size_t value = 0; value < values; ++value) {
        if (scratch.items[value] == 0) continue;
        sums.add(training, std::span<const Count>(table).subspan(value * classes, classes));
    }
}

/// The same where there are many more values than cases: by sorting.
template <class Weight>
void sum_sparsely(const Training& training, const Cases& cases,
                  std::span<const std::uint32_t> codes, Scratch& scratch,
                  std::span<typename Weight::Count> known,
                  ValueSums<typename Weight::Count>& sums) {
    using Count = typename Weight::Count;
    scratch.items.clear();
    for (std::size_t item = 0; item < cases.size(); ++item) {
        const std::uint64_t code = codes[cases.rows[item]];
        if (code == missing_code) continue;
        known[cases.classes[item]] += Weight::of(cases, static_cast<std::uint32_t>(item));
        scratch.items.push_back(code << 32 | item);
    }
    std::sort(scratch.items.begin(), scratch.items.end());
    std::vector<Count>& counts = Weight::memory(scratch);
    for (std::size_t i = 0; i < scratch.items.size();) {
        const std::uint64_t code = scratch.items[i] >> 32;
        counts.assign(training.classes(), Count{});
        for (; i < scratch.items.size() && scratch.items[i] >> 32 == code; ++i) {
            const auto item = static_cast<std::uint32_t>(scratch.items[i]);
            counts[cases.classes[item]] += Weight::of(cases, item);
        }
        sums.add(training, counts);
    }
}

template <class Weight>
Candidate evaluate_values(const Training& training, const Cases& cases, double total,
                          std::size_t attribute, Scratch& scratch) {
    using Count = typename Weight::Count;
    const std::span<const std::uint32_t> codes = training.table().columns[attribute].codes;
    const std::size_t values = training.table().schema.attributes[attribute].values.size();
    std::vector<Count> known(training.classes());
    ValueSums<Count> sums;
    if (values * training.classes() <= 4 * cases.size() + 64) {
        sum_densely<Weight>(training, cases, codes, values, scratch, known, sums);
    } else {
        sum_sparsely<Weight>(training, cases, codes, scratch, known, sums);
    }
    Candidate found;
    found.is_constant = sums.values <= 1;
    if (sums.large_values < 2) return found;
    const double base =
        training.n_log_n(sums.known) - n_log_n_sum<Count>(training, std::span<const Count>(known));
    found.is_possible = true;
    found.gain = (base - (sums.value_info - sums.class_info)) / total;
    found.split_info =
        (training.n_log_n(total) - training.n_log_n(total - sums.known) - sums.value_info) / total;
    return found;
}

template <class Weight>
Candidate evaluate_attribute(const Training& training, const Cases& cases, double total,
                             std::size_t place, Scratch& scratch) {
    const std::size_t attribute = cases.attributes[place];
    if (!training.is_numeric(attribute)) {
        return evaluate_values<Weight>(training, cases, total, attribute, scratch);
    }
    return CutSearch<Weight>(training, cases, total, cases.orders[place], scratch).best();
}

}  // namespace

Candidate evaluate(const Training& training, const Cases& cases, double total, std::size_t place,
                   Scratch& scratch) {
    return cases.is_weighted()
               ? evaluate_attribute<Weighted>(training, cases, total, place, scratch)
               : evaluate_attribute<Unit>(training, cases, total, place, scratch);
}

}  // namespace strid::tree
