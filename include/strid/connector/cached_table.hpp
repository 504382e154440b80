// SPDX-License-Identifier: Apache-2.0
//
// Rows of a table of a database that is too large to be held in memory: each key is asked for when
// it comes, and the answer is kept for a bounded time. It waits for the server, so that it belongs
// into a function of `call` (operator/call.hpp):
//
//     const auto customers = cached_table<&Customer::number>(
//         "postgres:///shop?table=customers",
//         {.columns = {"number", "name"}, .entries_max = 1'000'000, .keep_for = 1min});
//     std::move(orders).call([customers](const Order& order) {
//         const auto customer = customers.find(order.customer);  // null: there is none
//         return Named{order.number, customer ? customer->name : "?"};
//     }, {.in_flight = 16, .retries = 10})
//
// A table that fits into memory is better read whole (connector/table_file.hpp): it answers in
// nanoseconds, and goes on answering while the server is away.
//
// A handle: copies share the connections and the answers. Threads: any number at a time, each with
// a connection of its own while it asks. Invariant: no answer is given that was asked for longer
// ago than `keep_for`, and no more than `entries_max` are kept.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <strid/base/clock.hpp>
#include <strid/base/time.hpp>
#include <strid/connector/table_file.hpp>
#include <strid/connector/transport.hpp>
#include <strid/engine/base/text_fields.hpp>
#include <strid/engine/connector/read_fields.hpp>

namespace strid {

/// How rows are asked for, and how long answers are kept.
struct CachedTableOptions {
    /// The columns of the members of the row, in their order.
    std::vector<std::string> columns = {};
    /// So many answers are kept; beyond, the one goes that was used longest ago.
    std::size_t entries_max = 100'000;
    /// For so long an answer is given again, also that there is no such row. Zero: never.
    Duration keep_for = std::chrono::seconds{10};
};

namespace connector {

/// The connections to a table, as many as there are threads that ask at the same time. Any thread.
class TableConnections {
  public:
    /// Connects, and checks the columns. `fields`: of a row; `key`: which of them is the key.
    /// Throws GraphError, ConnectionLost and InputOutputError.
    TableConnections(std::string address, std::vector<std::string> columns, std::size_t fields,
                     std::size_t key);
    ~TableConnections();
    TableConnections(const TableConnections&) = delete;
    TableConnections& operator=(const TableConnections&) = delete;

    /// As TransportTable::find.
    [[nodiscard]] std::optional<std::vector<std::string>> find(const std::string& key);
    /// How often find() was called.
    [[nodiscard]] std::uint64_t questions() const;
    /// Throws InputOutputError: a value is none of the row's field.
    [[noreturn]] void refuse(const std::string& key, const detail::FieldFault& fault,
                             const std::string& value) const;

  private:
    [[nodiscard]] std::unique_ptr<TransportTable> connected() const;

    const std::string address_;
    TableQuery query_;
    mutable std::mutex mutex_;
    std::vector<std::unique_ptr<TransportTable>> idle_;  // under mutex_
    std::uint64_t questions_ = 0;                        // under mutex_
};

/// The answers that were used last. Any thread.
template <class Key, class Answer>
class RecentAnswers {
  public:
    RecentAnswers(std::size_t entries_max, std::int64_t keep_ns)
        : entries_max_(entries_max), keep_ns_(keep_ns) {}

    /// None: it is not known any more.
    [[nodiscard]] std::optional<Answer> find(const Key& key, std::int64_t now) {
        const std::lock_guard lock(mutex_);
        const auto found = places_.find(key);
        if (found == places_.end()) return std::nullopt;
        if (now - found->second->asked_ns >= keep_ns_) {
            entries_.erase(found->second);
            places_.erase(found);
            return std::nullopt;
        }
        entries_.splice(entries_.begin(), entries_, found->second);
        return found->second->answer;
    }
    /// `asked_ns`: before the server was asked.
    void keep(const Key& key, const Answer& answer, std::int64_t asked_ns) {
        if (keep_ns_ <= 0 || entries_max_ == 0) return;
        const std::lock_guard lock(mutex_);
        const auto found = places_.find(key);
        if (found != places_.end()) {
            if (asked_ns < found->second->asked_ns) return;  // another thread has asked since
            entries_.erase(found->second);
            places_.erase(found);
        } else if (entries_.size() == entries_max_) {
            places_.erase(entries_.back().key);
            entries_.pop_back();
        }
        entries_.push_front({key, answer, asked_ns});
        places_.emplace(key, entries_.begin());
    }

  private:
    struct Entry {
        Key key;
        Answer answer;
        std::int64_t asked_ns;
    };

    const std::size_t entries_max_;
    const std::int64_t keep_ns_;
    std::mutex mutex_;          // guards these two
    std::list<Entry> entries_;  // the one that was used last in front
    std::unordered_map<Key, typename std::list<Entry>::iterator> places_;
};

}  // namespace connector

/// Rows by key; see the head of this file.
template <class Key, class Row>
class CachedTable {
    static_assert((std::integral<Key> && !std::same_as<Key, bool>) ||
                      std::same_as<Key, std::string>,
                  "a key is an integer or a std::string");
    static_assert(!points_to_text<Row>,
                  "a row is kept longer than its text: it owns it (std::string in place of "
                  "std::string_view)");

  public:
    /// `key` is the number of the row's field that is the key.
    CachedTable(std::string address, CachedTableOptions options, std::size_t key)
        : shared_(std::make_shared<Shared>(std::move(address), std::move(options), key)) {}

    /// The row with this key; null: there is none. Waits for the server where the answer is not
    /// kept. Throws ConnectionLost while the server is away, and InputOutputError where the row
    /// cannot be read or is there twice.
    [[nodiscard]] std::shared_ptr<const Row> find(const Key& key) const {
        const std::int64_t now = now_ns();
        if (auto known = shared_->answers.find(key, now)) return std::move(*known);
        const std::shared_ptr<const Row> row = ask(key);
        shared_->answers.keep(key, row, now);
        return row;
    }
    /// How often the server was asked.
    [[nodiscard]] std::uint64_t questions() const { return shared_->connections.questions(); }

  private:
    struct Shared {
        Shared(std::string address, CachedTableOptions options, std::size_t key)
            : connections(std::move(address), std::move(options.columns),
                          detail::field_count<Row>(), key),
              answers(options.entries_max, options.keep_for.count()) {}
        connector::TableConnections connections;
        connector::RecentAnswers<Key, std::shared_ptr<const Row>> answers;
    };

    [[nodiscard]] std::shared_ptr<const Row> ask(const Key& key) const {
        std::string text;
        if constexpr (std::integral<Key>) {
            text = std::to_string(key);
        } else {
            text = key;
        }
        const auto values = shared_->connections.find(text);
        if (!values) return nullptr;
        auto row = std::make_shared<Row>();
        const auto value_of = [&](std::size_t index) { return std::string_view((*values)[index]); };
        const auto fault = detail::read_fields(*row, value_of, NumberFormat{NonFinite::reject});
        if (fault.reason != nullptr) {
            shared_->connections.refuse(text, fault, (*values)[fault.field]);
        }
        return row;
    }

    std::shared_ptr<Shared> shared_;
};

/// The rows at the address of a table or a query, by the member `Key`. Connects, and throws
/// GraphError, ConnectionLost or InputOutputError where that, or one of the columns, is wrong.
template <auto Key>
[[nodiscard]] auto cached_table(std::string address, CachedTableOptions options) {
    using Member = connector::MemberOf<Key>;
    using Row = typename Member::row;
    Row row{};
    std::size_t place = 0;
    detail::visit_fields(row, [&](std::size_t index, auto& field) {
        if (static_cast<const void*>(&field) == static_cast<const void*>(&(row.*Key)))
            place = index;
        return true;
    });
    return CachedTable<typename Member::type, Row>(std::move(address), std::move(options), place);
}

}  // namespace strid
