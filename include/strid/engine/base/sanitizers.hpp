// SPDX-License-Identifier: Apache-2.0
//
// Whether the address sanitizer is in the build: GCC and Clang say so in different ways.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define STRID_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STRID_ADDRESS_SANITIZER 1
#endif
#endif
#ifndef STRID_ADDRESS_SANITIZER
#define STRID_ADDRESS_SANITIZER 0
#endif
