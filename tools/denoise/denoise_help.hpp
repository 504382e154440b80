// SPDX-License-Identifier: Apache-2.0
//
// What `strid denoise --help` says beside the options.
#pragma once

namespace strid::denoise {

extern const char* const description;
extern const char* const footer;

}  // namespace strid::denoise
