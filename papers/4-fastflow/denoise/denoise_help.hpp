// SPDX-License-Identifier: Apache-2.0
//
// The text of `strid denoise --help` besides the options.
#pragma once

namespace strid::denoise {

extern const char* const description;
extern const char* const footer;

}  // namespace strid::denoise
