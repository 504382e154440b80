// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <strid/engine/base/text.hpp>

namespace strid {
namespace {

TEST(SameText, SeesADifferenceAtEveryPlaceOfEveryLength) {
    for (std::size_t size = 0; size <= 40; ++size) {
        const std::string text(size, 'a');
        EXPECT_TRUE(same_text(text, std::string(size, 'a')));
        EXPECT_FALSE(same_text(text, std::string(size + 1, 'a')));
        for (std::size_t place = 0; place < size; ++place) {
            std::string other = text;
            other[place] = 'b';
            EXPECT_FALSE(same_text(text, other)) << place << " of " << size;
        }
    }
}

RC_GTEST_PROP(SameText, IsEquality, (const std::string& a, const std::string& b)) {
    RC_ASSERT(same_text(a, b) == (a == b));
    RC_ASSERT(same_text(a, std::string(a)));
}

}  // namespace
}  // namespace strid
