// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/table/schema.hpp>

namespace strid::table {

namespace {

struct NamedKind {
    std::string_view name;
    Kind kind;
};
/// The first of a kind is the name that is written.
constexpr std::array named_kinds{
    NamedKind{"bool", Kind::boolean},
    NamedKind{"int64", Kind::int64},
    NamedKind{"float64", Kind::float64},
    NamedKind{"decimal", Kind::decimal},
    NamedKind{"text", Kind::text},
    NamedKind{"time", Kind::time},
    NamedKind{"interval", Kind::interval},
    NamedKind{"boolean", Kind::boolean},
    NamedKind{"bigint", Kind::int64},
    NamedKind{"integer", Kind::int64},
    NamedKind{"int", Kind::int64},
    NamedKind{"double", Kind::float64},
    NamedKind{"double precision", Kind::float64},
    NamedKind{"real", Kind::float64},
    NamedKind{"numeric", Kind::decimal},
    NamedKind{"varchar", Kind::text},
    NamedKind{"string", Kind::text},
    NamedKind{"timestamp", Kind::time},
};

/// `(2)`: the scale. Negative: no such text.
int scale_in(std::string_view text) {
    if (text.empty()) return 0;
    if (text.size() < 3 || text.front() != '(' || text.back() != ')') return -1;
    int scale = 0;
    for (const char c : text.substr(1, text.size() - 2)) {
        if (c < '0' || c > '9' || scale > decimal_digits) return -1;
        scale = scale * 10 + (c - '0');
    }
    return scale <= decimal_digits ? scale : -1;
}

}  // namespace

std::string name_of(Type type) {
    const std::string_view name = named_kinds[static_cast<std::size_t>(type.kind)].name;
    return type.kind == Kind::decimal ? fmt::format("{}({})", name, type.scale) : std::string(name);
}

std::optional<Type> type_named(std::string_view name) {
    std::string lower(name);
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    for (const NamedKind& one : named_kinds) {
        if (!std::string_view(lower).starts_with(one.name)) continue;
        const std::string_view rest = std::string_view(lower).substr(one.name.size());
        if (rest.empty()) return Type{one.kind};
        if (one.kind != Kind::decimal) continue;
        if (const int scale = scale_in(rest); scale >= 0) {
            return Type{one.kind, static_cast<std::uint8_t>(scale)};
        }
    }
    return std::nullopt;
}

Schema::Schema(std::vector<Field> fields) {
    for (std::size_t i = 0; i != fields.size(); ++i) {
        const Field& field = fields[i];
        if (field.name.empty()) throw GraphError(fmt::format("column {} has no name", i + 1));
        if (field.type.scale > decimal_digits) {
            throw GraphError(fmt::format("column '{}': a decimal has at most {} digits", field.name,
                                         decimal_digits));
        }
    }
    std::vector<std::uint32_t> by_name(fields.size());
    std::iota(by_name.begin(), by_name.end(), std::uint32_t{0});
    const auto name = [&fields](std::uint32_t place) -> const std::string& {
        return fields[place].name;
    };
    std::ranges::sort(by_name, {}, name);
    const auto twice = std::ranges::adjacent_find(by_name, {}, name);
    if (twice != by_name.end()) {
        throw GraphError(fmt::format("two columns are named '{}'", name(*twice)));
    }
    columns_ = std::make_shared<const Columns>(std::move(fields), std::move(by_name));
}

std::optional<std::size_t> Schema::find(std::string_view name) const noexcept {
    if (size() == 0) return std::nullopt;
    const auto name_at = [this](std::uint32_t place) -> std::string_view {
        return (*this)[place].name;
    };
    const auto& by_name = columns_->by_name;
    const auto found = std::ranges::lower_bound(by_name, name, {}, name_at);
    if (found == by_name.end() || name_at(*found) != name) return std::nullopt;
    return *found;
}

std::size_t Schema::place_of(std::string_view name) const {
    if (const auto place = find(name)) return *place;
    throw GraphError(
        fmt::format("there is no column '{}'; there are: {}", name, size() == 0 ? "none" : text()));
}

std::string Schema::text() const {
    std::string text;
    for (const Field& field : fields()) {
        if (!text.empty()) text += ", ";
        text += field.name + ' ' + name_of(field.type);
    }
    return text;
}

}  // namespace strid::table
