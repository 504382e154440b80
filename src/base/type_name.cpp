// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string_view>

#include <cxxabi.h>

#include <strid/engine/base/type_name.hpp>

namespace strid {

namespace {

std::string demangled(const char* mangled) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text{
        abi::__cxa_demangle(mangled, nullptr, nullptr, &status), &std::free};
    return status == 0 ? std::string(text.get()) : std::string(mangled);
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
        text.replace(at, from.size(), to);
        at += to.size();
    }
}

/// The position behind the bracket that closes the one at `open`; the end if there is none.
std::size_t end_of_arguments(const std::string& text, std::size_t open) {
    std::size_t depth = 0;
    for (std::size_t at = open; at < text.size(); ++at) {
        if (text[at] == '<') ++depth;
        if (text[at] == '>' && --depth == 0) return at + 1;
    }
    return text.size();
}

/// Removes the arguments of this template's name, such as ", std::allocator".
void remove_argument(std::string& text, std::string_view start) {
    for (auto at = text.find(start); at != std::string::npos; at = text.find(start, at)) {
        const std::size_t end = end_of_arguments(text, at + start.size() - 1);
        text.erase(at, end - at);
    }
}

}  // namespace

std::string readable_type_name(const char* mangled) {
    std::string text = demangled(mangled);
    replace_all(text, "std::__cxx11::", "std::");
    replace_all(text, "(anonymous namespace)::", "");
    replace_all(text, "std::basic_string<char, std::char_traits<char>, std::allocator<char> >",
                "std::string");
    replace_all(text, "std::basic_string_view<char, std::char_traits<char> >", "std::string_view");
    for (const std::string_view start :
         {", std::allocator<", ", std::default_delete<", ", std::less<", ", std::hash<",
          ", std::equal_to<", ", std::char_traits<"}) {
        remove_argument(text, start);
    }
    replace_all(text, " >", ">");
    return text;
}

}  // namespace strid
