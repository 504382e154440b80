// SPDX-License-Identifier: Apache-2.0
//
// The files of the page that shows a run in a browser; they are part of the program. Constants.
#pragma once

#include <string_view>

namespace strid::operate {

struct PageFile {
    std::string_view path;
    std::string_view content_type;
    std::string_view text;
};

/// The file of this path, "/" or "/page.js"; null where there is none.
[[nodiscard]] const PageFile* page_file(std::string_view path) noexcept;

}  // namespace strid::operate
