// SPDX-License-Identifier: Apache-2.0
//
// Whether a record points to text. A text field (std::string_view) is valid as long as the batch
// that the record came in; what keeps records longer has to know. Compile time only.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace strid {

namespace detail {

struct AnyProbe {
    std::size_t index;
    template <class T>
    constexpr operator T&() const& noexcept;
};
struct ViewProbe {
    operator std::string_view() const noexcept;
};

template <class T, std::size_t... before>
constexpr bool takes_view(std::index_sequence<before...>) {
    return requires { T{AnyProbe{before}..., ViewProbe{}}; };
}
template <class T, std::size_t... before>
constexpr bool takes_any(std::index_sequence<before...>) {
    return requires { T{AnyProbe{before}...}; };
}

/// Whether one of the first fields of an aggregate is text. Found by trying, because an aggregate
/// with arrays, which has none, cannot be taken apart.
template <class T, std::size_t index = 0>
constexpr bool has_view_field() {
    constexpr std::size_t index_max = 64;
    if constexpr (takes_view<T>(std::make_index_sequence<index>{})) {
        return true;
    } else if constexpr (index < index_max && takes_any<T>(std::make_index_sequence<index + 1>{})) {
        return has_view_field<T, index + 1>();
    } else {
        return false;
    }
}

template <class T>
struct TextIn {
    static constexpr bool found() { return in_result() || in_fields(); }

  private:
    /// What a result of windows has may be a pair or a tuple of texts.
    static constexpr bool in_result() {
        if constexpr (requires(const T& result) { result.key, result.window, result.value; }) {
            return TextIn<std::remove_cvref_t<decltype(T::key)>>::found() ||
                   TextIn<std::remove_cvref_t<decltype(T::value)>>::found();
        } else {
            return false;
        }
    }
    static constexpr bool in_fields() {
        if constexpr (std::is_aggregate_v<T> && std::is_class_v<T>) {
            return has_view_field<T>();
        } else {
            return false;
        }
    }
};
template <>
struct TextIn<std::string_view> {
    static constexpr bool found() { return true; }
};
template <class... Parts>
struct TextInAny {
    static constexpr bool found() { return (TextIn<Parts>::found() || ...); }
};
template <class T>
struct TextIn<std::optional<T>> : TextIn<T> {};
template <class First, class Second>
struct TextIn<std::pair<First, Second>> : TextInAny<First, Second> {};
template <class... Parts>
struct TextIn<std::tuple<Parts...>> : TextInAny<Parts...> {};
template <class... Parts>
struct TextIn<std::variant<Parts...>> : TextInAny<Parts...> {};

}  // namespace detail

/// True where `T` is text, or a pair, a tuple, an optional, a variant, a result of windows or an
/// aggregate with text in it. What an aggregate nests in its fields is not looked at.
template <class T>
inline constexpr bool points_to_text = detail::TextIn<T>::found();

/// Does not compile for records that would outlive their text in the operator that calls this.
template <class T>
constexpr void check_owns_text() noexcept {
    static_assert(!points_to_text<T>,
                  "this operator keeps records longer than the batches that their text fields "
                  "point to: map them to records that own it (std::string, std::array<char, N>)");
}

}  // namespace strid
