// SPDX-License-Identifier: Apache-2.0
//
// Enriches each record with the value that a table has for its key (operator/lookup_table.hpp). The
// table may be exchanged while the graph runs (operator/current_table.hpp): the records of one
// batch, or of one poll of a source in the same node, all see the same version.
//
// If the operator is the first of its node, it looks up the keys of 64 records at once, before the
// first of them (design note 0020): their cache misses overlap.
//
// Threads: only the task of the node. Invariant: no version is held between two batches.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <strid/engine/operator/declared.hpp>
#include <strid/engine/operator/function_state.hpp>
#include <strid/operator/callable.hpp>
#include <strid/operator/contract.hpp>
#include <strid/operator/counter.hpp>
#include <strid/operator/current_table.hpp>
#include <strid/operator/lookup_table.hpp>

namespace strid {

/// Makes `lookup` return the records without a value as a stream of their own. It stands before the
/// options: `auto [found, missing] = std::move(stream).lookup(table, key_of, combine,
/// missing_apart)`. Both streams must be consumed.
struct MissingApart {
    /// For `missing_apart` alone.
    explicit constexpr MissingApart(int) noexcept {}  // not made of {}
};
/// Asks `lookup` for records without an entry as a stream of their own.
inline constexpr MissingApart missing_apart{0};

/// Callables of `lookup` for records with a value: `void f(T&, const Value&)`, or `U f(const T&,
/// const Value&)`. Records without a value are dropped and counted.
template <class F, class T, class Value>
concept CombinesFound = std::copy_constructible<F> && (operators::Callable<F, T&, const Value&> ||
                                                       operators::Callable<F, T&&, const Value&>);
/// Callables for all records: the same with a `const Value*`, null if there is no value.
template <class F, class T, class Value>
concept CombinesAll =
    std::copy_constructible<F> && !CombinesFound<F, T, Value> &&
    (operators::Callable<F, T&, const Value*> || operators::Callable<F, T&&, const Value*>);

namespace operators {

/// The argument of combine that comes from the table.
template <class F, class T, class Value>
using GivenOf = std::conditional_t<CombinesFound<F, T, Value>, const Value&, const Value*>;

/// Combine changes the record in place.
template <class F, class T, class Given>
concept CombinesInPlace = Callable<F, T&, Given> && std::is_void_v<CallResult<F, T&, Given>>;

template <class F, class T, class Given>
struct CombineResult {
    using type = std::remove_cvref_t<CallResult<F, T&&, Given>>;
};
template <class F, class T, class Given>
    requires CombinesInPlace<F, T, Given>
struct CombineResult<F, T, Given> {
    using type = T;
};

/// The treatment of records without a value.
enum class Missing : std::uint8_t { left_out, combined, apart };

template <class T, class Table, class KeyOf, class F, Missing missing>
struct LookupTypes {
    using Value = typename Table::value_type;
    using Given = GivenOf<F, T, Value>;
    using Query = std::remove_cvref_t<std::invoke_result_t<KeyOf&, const T&>>;
    using Result = typename CombineResult<F, T, Given>::type;
    using Emitted = std::conditional_t<missing == Missing::apart, std::variant<Result, T>, Result>;
    /// Keys can wait in an array.
    static constexpr bool looks_ahead =
        std::is_trivially_copyable_v<Query> && std::default_initializable<Query>;
};

template <class T, class Table, class KeyOf, class F, Missing missing>
class Lookup : public OperatorTypes<T, typename LookupTypes<T, Table, KeyOf, F, missing>::Emitted> {
    using Types = LookupTypes<T, Table, KeyOf, F, missing>;
    using Value = typename Types::Value;
    using Query = typename Types::Query;
    using Given = typename Types::Given;

  public:
    using Emitted = typename Types::Emitted;
    static constexpr OperatorTraits traits{
        .kind = "lookup",
        .emits = missing == Missing::left_out ? Emits::at_most_one : Emits::one,
        .hears = events<Opened, BatchEnds> | events_if<Coming<T>>(Types::looks_ahead) |
                 events_if<Closed>(FunctionHears<F, Closed>),
        .has = Has::facts,
        .may_skip = true};

    Lookup(CurrentTable<Table> table, KeyOf key_of, F combine)
        : current_(std::move(table)), key_of_(std::move(key_of)), combine_(std::move(combine)) {}

    [[nodiscard]] OperatorFacts facts() const {
        OperatorFacts facts{.files = current_.files()};
        if constexpr (Types::looks_ahead) {
            facts.notes.emplace_back(
                "looks up 64 records at once where it is the first of its task");
        }
        return facts;
    }

    void on(const Opened& opened) {
        context_ = opened.context;
        missing_ = context_.counter("missing");
        exchanges_ = context_.counter("exchanges");
        notify_function(combine_, Opened{context_, opened.task, opened.stop});
    }
    void on(Closed closed)
        requires FunctionHears<F, Closed>
    {
        combine_.on(closed);
    }

    [[nodiscard]] std::size_t on(Coming<T> coming)
        requires(Types::looks_ahead)
    {
        if (table_ == nullptr) take();
        const std::size_t some = std::min(coming.records.size(), abreast);
        std::array<Query, abreast> queries;
        std::size_t known = 0;
        try {
            for (; known < some; ++known) {
                queries[known] = std::invoke(key_of_, coming.records[known]);
            }
        } catch (...) {
            // It throws again when the record comes; then the record may be dropped.
            if (known == 0) {
                state_ = State::at_hand;
                return 1;
            }
        }
        table_->find(std::span<const Query>(queries.data(), known), std::span(found_));
        next_ = found_.data();
        state_ = State::looked_up;
        end_ = next_ + known;
        return known;
    }

    [[gnu::always_inline]] void process(T& record, auto& emit) {
        // Only find() sees the record, which therefore stays in registers.
        const Value* const* known = nullptr;
        if (state_ != State::at_hand) [[unlikely]]
            known = next_known();
        const Value* const value =
            known != nullptr ? *known : table_->find(std::invoke(key_of_, std::as_const(record)));
        if constexpr (missing == Missing::combined) {
            if (value == nullptr) count_missing();
            combine(record, value, emit);
        } else if (value != nullptr) [[likely]] {
            combine(record, *value, emit);
        } else {
            count_missing();
            if constexpr (missing == Missing::apart) emit(Emitted{std::in_place_index<1>, record});
        }
    }

    [[gnu::noinline]] void on(BatchEnds) {
        state_ = State::none;
        table_ = nullptr;
        held_.reset();
        if (failure_ != nullptr) std::rethrow_exception(failure_);
    }

    auto state() { return state_with_function(combine_, version_); }

  private:
    static constexpr std::size_t abreast = 64;

    enum class State : std::uint8_t {
        at_hand,   ///< Each record is looked up when it comes.
        none,      ///< A batch begins: no table has been taken yet.
        looked_up  ///< The next records were looked up.
    };

    // Out of line, to keep the loop small.
    [[gnu::noinline]] void count_missing() noexcept { missing_.add(); }
    /// The value that was looked up ahead for the present record, or null: then there is a table.
    [[nodiscard, gnu::noinline]] const Value* const* next_known() {
        if (state_ != State::looked_up) {
            take();
            return nullptr;
        }
        const Value* const* const known = next_++;
        if (next_ == end_) state_ = State::at_hand;
        return known;
    }
    [[gnu::noinline]] void take() {
        auto taken = current_.take();
        if (version_.has_value() && *version_ != taken.version) exchanges_.add();
        version_ = taken.version;
        failure_ = std::move(taken.failure);
        held_ = std::move(taken.table);
        table_ = held_.get();
        state_ = State::at_hand;
    }

    [[gnu::always_inline]] void combine(T& record, Given given, auto& emit) {
        if constexpr (CombinesInPlace<F, T, Given>) {
            call(combine_, context_, record, given);
            hand_on(record, emit);
        } else {
            auto result = call(combine_, context_, std::move(record), given);
            hand_on(result, emit);
        }
    }
    [[gnu::always_inline]] void hand_on(auto& result, auto& emit) {
        if constexpr (missing == Missing::apart) {
            emit(Emitted{std::in_place_index<0>, std::move(result)});
        } else {
            emit(result);
        }
    }

    State state_ = State::none;
    const Table* table_ = nullptr;
    const Value** next_ = nullptr;  // of found_
    const Value** end_ = nullptr;
    CurrentTable<Table> current_;
    [[no_unique_address]] KeyOf key_of_;
    [[no_unique_address]] F combine_;
    Context context_;
    Counter missing_;
    Counter exchanges_;  // of versions that this replica has seen
    std::shared_ptr<const Table> held_;
    std::optional<std::uint64_t> version_;
    std::exception_ptr failure_;
    std::array<const Value*, abreast> found_{};
};

/// The table of an argument of `lookup`: a CurrentTable, or an object that has one (TableFile).
template <class Tables>
[[nodiscard]] auto current_of(const Tables& tables) {
    if constexpr (requires { tables.current(); }) {
        return tables.current();
    } else {
        return CurrentTable{tables};
    }
}
template <class Table>
[[nodiscard]] CurrentTable<Table> current_of(const CurrentTable<Table>& table) {
    return table;
}
template <class Tables>
using TableOf = typename decltype(current_of(std::declval<const Tables&>()))::table_type;

template <class Table, class Query>
concept FindsBy = requires(const Table& table, const Query& query) {
    { table.find(query) } -> std::same_as<const typename Table::value_type*>;
};

/// Numbers of another type than the table's would be converted before the comparison, which may
/// change them.
template <class Key, class Query>
inline constexpr bool same_numbers =
    std::same_as<Key, Query> || !memory::is_plain_number<Key> || !memory::is_plain_number<Query>;

/// Checks the arguments of `lookup`; one sentence names what is wrong.
template <class T, class Table, class KeyOf, class F>
consteval bool takes_lookup() {
    if constexpr (!KeyFunction<KeyOf, T>) {
        static_assert(KeyFunction<KeyOf, T>,
                      "lookup needs a function of the records T that arrive, which says what is "
                      "looked up: KeyOf, or between angle brackets as in lookup<&Order::customer>");
        return false;
    } else {
        using Query = std::remove_cvref_t<std::invoke_result_t<KeyOf&, const T&>>;
        using Value = typename Table::value_type;
        constexpr bool finds =
            FindsBy<Table, Query> && same_numbers<typename Table::key_type, Query>;
        if constexpr (!finds) {
            static_assert(finds,
                          "the looked-up key is not of the type of the table's keys: a number has "
                          "the same type, and text is a std::string_view for a std::string");
            return false;
        } else {
            constexpr bool combines = CombinesFound<F, T, Value> || CombinesAll<F, T, Value>;
            static_assert(combines,
                          "lookup needs a function F of a record and of what the table has for it: "
                          "void f(T&, const Value&) or U f(const T&, const Value&), and with a "
                          "const Value*, which may be null, for all records");
            return combines;
        }
    }
}

}  // namespace operators
}  // namespace strid
