// SPDX-License-Identifier: Apache-2.0
//
// The forms of the version agree with each other; scripts/check_version.py holds them against
// CMakeLists.txt.
#include <string>

#include <gtest/gtest.h>

#include <strid/base/version.hpp>

namespace strid {
namespace {

TEST(Version, ItsFormsAgree) {
    const std::string parts = std::to_string(STRID_VERSION_MAJOR) + "." +
                              std::to_string(STRID_VERSION_MINOR) + "." +
                              std::to_string(STRID_VERSION_PATCH);
    EXPECT_EQ(version, parts);
    EXPECT_EQ(library_version(), version);
}

TEST(Version, TheNumberGrowsWithEachPart) {
    EXPECT_LT(STRID_VERSION_NUMBER(0, 1, 999), STRID_VERSION_NUMBER(0, 2, 0));
    EXPECT_LT(STRID_VERSION_NUMBER(0, 999, 999), STRID_VERSION_NUMBER(1, 0, 0));
    EXPECT_EQ(STRID_VERSION,
              STRID_VERSION_NUMBER(STRID_VERSION_MAJOR, STRID_VERSION_MINOR, STRID_VERSION_PATCH));
}

}  // namespace
}  // namespace strid
