// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cctype>
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
        for (std::size_t before = 0; before != i; ++before) {
            if (fields[before].name == field.name) {
                throw GraphError(fmt::format("two columns are named '{}'", field.name));
            }
        }
    }
    fields_ = std::make_shared<const std::vector<Field>>(std::move(fields));
}

std::optional<std::size_t> Schema::find(std::string_view name) const noexcept {
    for (std::size_t i = 0; i != size(); ++i) {
        if ((*this)[i].name == name) return i;
    }
    return std::nullopt;
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
