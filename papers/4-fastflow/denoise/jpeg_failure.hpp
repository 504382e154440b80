// SPDX-License-Identifier: Apache-2.0
//
// Errors of libjpeg, which it reports by functions that must not return: they go back to `place`.
// Its warnings are errors, too: it would fill what is missing of a picture with grey. The image's
// `client_data` is the JpegFailure. One thread.
#pragma once

#include <csetjmp>
#include <cstdio>
#include <string>

#include <jpeglib.h>

namespace strid::denoise {

struct JpegFailure {
    std::jmp_buf place = {};
    std::string text = {};

    [[nodiscard]] jpeg_error_mgr* manager() {
        jpeg_std_error(&errors_);
        errors_.error_exit = [](j_common_ptr image) { fail(image, nullptr); };
        errors_.emit_message = [](j_common_ptr image, int level) {
            if (level < 0) fail(image, nullptr);
        };
        errors_.output_message = [](j_common_ptr /*image*/) {};
        return &errors_;
    }
    /// With `what`, or else the message of libjpeg.
    [[noreturn]] static void fail(j_common_ptr image, const char* what) {
        auto& self = *static_cast<JpegFailure*>(image->client_data);
        char message[JMSG_LENGTH_MAX] = {};
        if (what == nullptr) image->err->format_message(image, message);
        self.text = what != nullptr ? what : message;
        std::longjmp(self.place, 1);
    }

  private:
    jpeg_error_mgr errors_{};
};

}  // namespace strid::denoise
