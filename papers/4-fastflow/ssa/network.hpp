// SPDX-License-Identifier: Apache-2.0
//
// A network of reactions as a model describes it, and what the methods of simulation need of it:
// propensities, changes of counts, and which propensities a reaction changes.
//
// A species is a number, a reaction is a number; both in the order of the model. Counts are doubles
// that hold whole numbers, exact below `count_max`. Behind the counts stands the time, which rates
// and triggers may read. Constant after it is made; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "distribution.hpp"
#include "expression.hpp"

namespace strid::ssa {

/// Counts above it are an error: sums of so many stay exact (statistics.hpp).
inline constexpr double count_max = 1125899906842624.0;  // 2^50
/// Of one species in one reaction.
inline constexpr std::int64_t stoichiometry_max = 1'000'000;

struct Species {
    std::string name;
    double initial = 0;
    /// Reactions leave its count as it is (SBML: boundaryCondition, constant).
    bool fixed = false;
    /// Any number, not only whole ones from 0 on: a quantity that rules or events change.
    bool real = false;
    /// How much a count of an event may be rounded, as a part of it: amounts in moles are no whole
    /// numbers of molecules.
    double rounds_by = 1e-9;
    /// An error of a quantity with a rate that is none.
    double tolerance = 1e-15;
};

struct Term {
    std::size_t species;
    std::int64_t count;
};

struct Reaction {
    std::string name;
    std::vector<Term> reactants;  ///< each species once
    std::vector<Term> products;
    double constant = 0;  ///< of mass action, where there is no rate
    std::optional<Expression> rate = {};
};

/// The value of a species, always or by an event; or how fast it changes.
struct Setting {
    std::size_t species;
    Expression value;
    /// Of an event: a factor of the time when it happens (concentrations in a size that changes).
    std::optional<Expression> factor = {};
};

/// A random number that is drawn before an event is triggered and before it happens.
struct Draw {
    std::size_t place;  ///< where expressions find it, behind the time
    Distribution distribution;
    std::vector<Expression> arguments;  ///< which may read draws before it
};

/// Happens when its trigger becomes true, or a delay after it (SBML level 3, section 4.11).
struct Event {
    std::string name;
    Expression trigger;
    std::optional<Expression> delay = {};
    /// Of several that are due the highest is first; without one: behind them, in any order.
    std::optional<Expression> priority = {};
    bool initially = true;   ///< what the trigger is taken to have been before time 0
    bool persistent = true;  ///< happens although the trigger has become false meanwhile
    bool from_trigger =
        true;  ///< values are those of when it was triggered, not of when it happens
    std::vector<Setting> settings = {};
    std::vector<Draw> draws = {};
};

struct Network {
    std::vector<Species> species = {};
    std::vector<Reaction> reactions = {};
    /// Species that always have the value of an expression, which reads none of them.
    std::vector<Setting> assigned = {};
    /// Species that change all the time, by so much in a unit of time.
    std::vector<Setting> rates = {};
    std::vector<Event> events = {};
    std::size_t draws = 0;  ///< of all events

    /// Where expressions find the time.
    [[nodiscard]] std::size_t time() const noexcept { return species.size(); }
};

/// Adds to the term of the species, or a new one. Throws GraphError above `stoichiometry_max`.
void add_term(std::vector<Term>& terms, std::size_t species, std::int64_t count);

/// Rows of different lengths one behind the other.
template <class T>
class Rows {
  public:
    void append(const std::vector<T>& row) {
        all_.insert(all_.end(), row.begin(), row.end());
        begins_.push_back(all_.size());
    }
    [[nodiscard]] std::span<const T> operator[](std::size_t i) const noexcept {
        return {all_.data() + begins_[i], begins_[i + 1] - begins_[i]};
    }
    [[nodiscard]] std::size_t size() const noexcept { return begins_.size() - 1; }

  private:
    std::vector<T> all_;
    std::vector<std::size_t> begins_{0};
};

/// How a reaction changes a count.
struct Change {
    std::uint32_t species;
    double by;
};

struct CompiledSetting {
    std::uint32_t species;
    CompiledRate value;
    std::optional<CompiledRate> factor;
};

struct CompiledDraw {
    std::size_t place;
    Distribution distribution;
    std::vector<CompiledRate> arguments;
};

struct CompiledEvent {
    std::string name;
    CompiledRate trigger;
    std::optional<CompiledRate> delay;
    std::optional<CompiledRate> priority;
    bool initially;
    bool persistent;
    bool from_trigger;
    std::vector<CompiledSetting> settings;
    std::vector<CompiledDraw> draws;
};

/// A network made ready to be simulated.
class Kinetics {
  public:
    explicit Kinetics(Network network);

    [[nodiscard]] const Network& network() const noexcept { return network_; }
    [[nodiscard]] std::size_t species() const noexcept { return network_.species.size(); }
    [[nodiscard]] std::size_t reactions() const noexcept { return laws_.size(); }

    /// How many events of the reaction are expected in a unit of time: not checked.
    [[nodiscard]] double propensity(std::size_t reaction, const double* counts) const noexcept {
        const Law& law = laws_[reaction];
        switch (law.kind) {
            case Kind::constant:
                return law.constant;
            case Kind::one:
                return law.constant * counts[law.first];
            case Kind::two:
                return law.constant * counts[law.first] * counts[law.second];
            case Kind::pair:
                return law.constant * 0.5 * counts[law.first] * (counts[law.first] - 1);
            case Kind::many:
                return many(law, counts);
            case Kind::rate:
                return rates_[law.first].at(counts);
        }
        return 0;
    }
    /// The changes by its event.
    [[nodiscard]] std::span<const Change> changes(std::size_t reaction) const noexcept {
        return changes_[reaction];
    }
    /// The reactions with propensities that read what it changes, itself not among them; ascending.
    [[nodiscard]] std::span<const std::uint32_t> dependents(std::size_t reaction) const noexcept {
        return dependents_[reaction];
    }
    [[nodiscard]] bool changes_own_propensity(std::size_t reaction) const noexcept {
        return own_[reaction] != 0;
    }
    /// Its rate is an expression, so that its propensity and the counts after it are to be checked.
    [[nodiscard]] bool is_checked(std::size_t reaction) const noexcept {
        return checked_[reaction] != 0;
    }
    /// With the time, 0, behind them, and places for random numbers.
    [[nodiscard]] std::vector<double> initial_counts() const;
    /// Which species have any number.
    [[nodiscard]] std::vector<bool> reals() const;

    /// Gives the species that always have the value of an expression this value.
    void assign(double* counts) const noexcept {
        for (const CompiledSetting& one : assigned_) counts[one.species] = one.value.at(counts);
    }
    [[nodiscard]] std::span<const CompiledSetting> rates() const noexcept { return driven_; }
    [[nodiscard]] std::span<const CompiledEvent> events() const noexcept { return events_; }
    /// The comparisons that triggers consist of: a trigger changes only where one of them does.
    [[nodiscard]] std::span<const CompiledRate> conditions() const noexcept { return conditions_; }
    /// Something changes between the events of reactions: HybridMethod simulates it.
    [[nodiscard]] bool is_hybrid() const noexcept {
        return !driven_.empty() || !events_.empty() || reads_time_;
    }
    /// A propensity reads the time.
    [[nodiscard]] bool reads_time() const noexcept { return reads_time_; }

    /// Species that its propensity reads: for mass action, the reactants.
    [[nodiscard]] std::vector<std::size_t> reads(std::size_t reaction) const;

  private:
    enum class Kind : std::uint8_t { constant, one, two, pair, many, rate };
    struct Law {
        Kind kind;
        std::uint32_t first = 0;
        std::uint32_t second = 0;
        double constant = 0;
    };

    [[nodiscard]] Law law_of(std::size_t reaction);
    [[nodiscard]] double many(const Law& law, const double* counts) const noexcept;
    void find_dependents();

    Network network_;
    std::vector<Law> laws_;
    Rows<Term> reactants_;
    Rows<Change> changes_;
    Rows<std::uint32_t> dependents_;
    std::vector<unsigned char> own_;
    std::vector<unsigned char> checked_;
    std::vector<CompiledRate> rates_;
    std::vector<CompiledSetting> assigned_;
    std::vector<CompiledSetting> driven_;
    std::vector<CompiledEvent> events_;
    std::vector<CompiledRate> conditions_;
    bool reads_time_ = false;
};

}  // namespace strid::ssa
