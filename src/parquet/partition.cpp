// SPDX-License-Identifier: Apache-2.0
#include "partition.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>

#include "place.hpp"

namespace strid::parquet {

Partition::Partition(const std::string& list, std::string address) : address_(std::move(address)) {
    for (const std::string& item : names_of_list(list)) {
        Key key;
        key.column = item;
        for (const auto& [word, kind] :
             {std::pair{std::string_view("date("), Kind::date}, {"hour(", Kind::hour}}) {
            if (!item.starts_with(word) || !item.ends_with(')')) continue;
            key.kind = kind;
            key.column = item.substr(word.size(), item.size() - word.size() - 1);
        }
        keys_.push_back(std::move(key));
    }
}

void Partition::set_columns(const std::vector<std::string>& names, const arrow::Schema& types) {
    for (Key& key : keys_) {
        const auto found = std::find(names.begin(), names.end(), key.column);
        if (found == names.end()) {
            throw GraphError(
                fmt::format("{}: partition: there is no column '{}'", address_, key.column));
        }
        key.place = static_cast<std::size_t>(found - names.begin());
        key.type = types.field(static_cast<int>(key.place))->type();
        if (key.kind != Kind::value && key.type->id() != arrow::Type::TIMESTAMP) {
            throw GraphError(fmt::format(
                "{}: partition: the column '{}' is {}, and date() and hour() are of a time: "
                "types={}:timestamp[ms], or another unit",
                address_, key.column, key.type->ToString(), key.column));
        }
    }
}

bool Partition::has(std::size_t column) const noexcept {
    return std::any_of(keys_.begin(), keys_.end(), [column](const Key& key) {
        return key.kind == Kind::value && key.place == column;
    });
}

void Partition::append_folder(std::string& path, const std::vector<FieldText>& fields) const {
    using namespace std::chrono;
    for (const Key& key : keys_) {
        const FieldText& field = fields[key.place];
        const char* const name = key.kind == Kind::date ? "date" : "hour";
        path += key.kind == Kind::value ? path_part(key.column) : name;
        path += '=';
        if (!field || field->empty()) {
            path += null_folder;
        } else if (key.kind == Kind::value) {
            path += path_part(*field);
        } else if (const auto ns = moment_of_text(*key.type, *field)) {
            const sys_time<nanoseconds> moment{nanoseconds{*ns}};
            const auto day = floor<days>(moment);
            if (key.kind == Kind::hour) {
                path += fmt::format("{:02}", floor<hours>(moment - day).count());
            } else {
                const year_month_day date{day};
                path += fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                                    static_cast<unsigned>(date.month()),
                                    static_cast<unsigned>(date.day()));
            }
        } else {
            throw InputOutputError(fmt::format("{}: partition: \"{}\" in '{}' is no time", address_,
                                               field->substr(0, 100), key.column));
        }
        path += '/';
    }
}

}  // namespace strid::parquet
