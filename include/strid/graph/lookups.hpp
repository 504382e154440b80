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
#include <strid/graph/alternatives.hpp>
#include <strid/graph/options.hpp>
#include <strid/operator/lookup.hpp>

namespace strid {

/// What `lookup` gives with the records apart that the table has nothing for: both have to be
/// consumed.
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
    /// Each record with what a table has for its key: `table` is a TableFile, a CurrentTable or a
    /// table (operator/lookup_table.hpp), `key_of` a function of a record, `combine` one of a
    /// record and a value. It changes the record in place (`void f(T&, const Value&)`) or makes
    /// another (`U f(const T&, const Value&)`); records that the table has nothing for are left out
    /// and counted, as "missing". With a `const Value*` it gets all records, and null for those.
    /// What it makes must not point to texts of the value, which may be exchanged.
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
    /// The same with the records that the table has nothing for as a stream of their own.
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

    /// The same by a member, `lookup<&Order::customer>(customers, combine)`: the faster way.
    template <auto Member, class Tables, class F, class... Options>
        requires std::is_member_pointer_v<decltype(Member)>
    auto lookup(const Tables& table, F combine, const Options&... options) && {
        return std::move(*this).lookup(table, field<Member>, std::move(combine), options...);
    }
    /// As above, by a member of the record.
    template <auto Member, class Tables, class F>
        requires std::is_member_pointer_v<decltype(Member)>
    auto lookup(const Tables& table, F combine, const OperatorOptions& options) && {
        return std::move(*this).lookup(table, field<Member>, std::move(combine), options);
    }
    /// As above, by a member of the record.
    template <auto Member, class Tables, class F>
        requires std::is_member_pointer_v<decltype(Member)>
    auto lookup(const Tables& table, F combine, MissingApart apart,
                const OperatorOptions& options) && {
        return std::move(*this).lookup(table, field<Member>, std::move(combine), apart, options);
    }

  private:
    [[nodiscard]] Self&& self() noexcept { return static_cast<Self&&>(*this); }
};

}  // namespace graph
}  // namespace strid
