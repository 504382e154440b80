// SPDX-License-Identifier: Apache-2.0
#include "partition.hpp"

#include <algorithm>
#include <chrono>
#include <climits>
#include <set>
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
    std::set<std::string> names;
    for (const Key& key : keys_) {
        const std::string name = name_of(key);
        if (name.starts_with('_') || name.starts_with('.')) {
            throw GraphError(
                fmt::format("{}: partition: the folders of '{}' would be hidden: its "
                            "name begins with a point or an underscore",
                            address_, key.column));
        }
        if (!names.insert(name).second) {
            throw GraphError(
                fmt::format("{}: partition: two folders have the name '{}'", address_, name));
        }
    }
}

std::string Partition::name_of(const Key& key) {
    if (key.kind == Kind::value) return path_part(key.column);
    return key.kind == Kind::date ? "date" : "hour";
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
    for (const Key& key : keys_) {
        const FieldText& field = fields[key.place];
        const std::size_t begin = path.size();
        (path += name_of(key)) += '=';
        if (!field || field->empty()) {
            path += null_folder;
        } else if (key.kind == Kind::value) {
            path += path_part(*field);
        } else {
            append_moment(path, key, *field);
        }
        if (path.size() - begin > NAME_MAX) {
            throw InputOutputError(fmt::format(
                "{}: partition: a value of '{}' is too long for the name of a folder: \"{}...\"",
                address_, key.column, field->substr(0, 100)));
        }
        path += '/';
    }
}

void Partition::append_moment(std::string& path, const Key& key, std::string_view text) const {
    using namespace std::chrono;
    const auto moment = moment_of_text(*key.type, text);
    const year_month_day date{floor<days>(moment.value_or(sys_seconds{}))};
    if (!moment) {
        throw InputOutputError(
            fmt::format("{}: partition: \"{}\" in '{}' is no time of the years 0 "
                        "to 9999",
                        address_, text.substr(0, 100), key.column));
    }
    if (key.kind == Kind::hour) {
        path += fmt::format("{:02}", floor<hours>(*moment - floor<days>(*moment)).count());
        return;
    }
    path += fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                        static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

}  // namespace strid::parquet
