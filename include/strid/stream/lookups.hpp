// SPDX-License-Identifier: Apache-2.0
//
// The look-ups of a stream, as its functions.
//
// Threads: as Stream.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include <strid/base/field.hpp>
#include <strid/engine/plan/alternatives.hpp>
#include <strid/operator/lookup.hpp>
#include <strid/stream/options.hpp>

namespace strid {

/// The result of `lookup` with the records that have no entry in the table as a second stream. Both
/// streams must be consumed.
template <class Result, class T, class Time = operators::NaturalTime<T>>
struct LookupStreams {
    Stream<Result> found;  ///< Records that the table has something for, combined with it.
    StreamTimedBy<T, Time> missing;  ///< Records that it has nothing for, unchanged.
};

namespace graph {

/// A base of streams.
template <class Self, class T, class Time>
class LooksUp {
  public:
    /// Combines each record with the entry of a table for its key: `table` is a TableFile, a
    /// CurrentTable or a table (operator/lookup_table.hpp); `key_of` is a function of a record,
    /// such as `field<&Order::customer>`; `combine` is one of a record and a value. It changes the
    /// record in place (`void f(T&, const Value&)`) or makes another (`U f(const T&, const
    /// Value&)`); records without an entry are dropped and counted, as "missing". If `combine`
    /// takes a `const Value*`, it gets all records, with a null pointer for those without an entry.
    /// Its result must not point to texts of the value, because the table may be exchanged.
    ///
    /// The table may be exchanged while the graph runs: all records of a batch see one version.
    template <class Tables, class KeyOf, class F>
    auto lookup(const Tables& table, KeyOf key_of, F combine,
                const OperatorOptions& options = {}) && {
        using Table = operators::TableOf<Tables>;
        if constexpr (operators::takes_lookup<T, Table, KeyOf, F>()) {
            using operators::Missing;
            constexpr Missing missing = CombinesAll<F, T, typename Table::value_type>
                                            ? Missing::combined
                                            : Missing::left_out;
            return self().apply(
                operators::Lookup<T, Table, KeyOf, F, missing>{
                    operators::current_of(table), std::move(key_of), std::move(combine)},
                options);
        }
    }
    /// The same with the records that have no entry as a second stream.
    template <class Tables, class KeyOf, class F>
    auto lookup(const Tables& table, KeyOf key_of, F combine, MissingApart,
                const OperatorOptions& options = {}) && {
        using Table = operators::TableOf<Tables>;
        if constexpr (operators::takes_lookup<T, Table, KeyOf, F>()) {
            constexpr bool combines_found = CombinesFound<F, T, typename Table::value_type>;
            static_assert(combines_found, "with missing_apart, combine takes a const Value&");
            if constexpr (combines_found) {
                using One = operators::Lookup<T, Table, KeyOf, F, operators::Missing::apart>;
                using Result = std::variant_alternative_t<0, typename One::Emitted>;
                Time time = self().time();
                auto [found, missing] = alternatives<Result, T>(
                    self().apply(
                        One{operators::current_of(table), std::move(key_of), std::move(combine)},
                        options),
                    options.name, {"found", "missing"});
                return LookupStreams<Result, T, Time>{std::move(found),
                                                      std::move(missing).carrying(std::move(time))};
            }
        }
    }

  private:
    [[nodiscard]] Self&& self() noexcept { return static_cast<Self&&>(*this); }
};

}  // namespace graph
}  // namespace strid
