// SPDX-License-Identifier: Apache-2.0
//
// The fault of an image, without its name.
#pragma once

#include <strid/base/error.hpp>

namespace strid::denoise {

class ImageError : public Error {
  public:
    using Error::Error;
};

}  // namespace strid::denoise
