// SPDX-License-Identifier: Apache-2.0
//
// Bytes of a client of the exchange. A message needs a length and a sum: where a line "=TEXT" (up
// to a SOH and a newline) stands, the fuzzer's message is completed with both. Invariants: what is
// found does not depend on how the bytes arrive; a message that is encoded again reads as itself;
// no more than one message is kept.
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "fix/decoder.hpp"
#include "tests/support/fuzzing.hpp"

namespace strid::exchange::fix {
namespace {

std::vector<std::string> decode(std::string_view bytes, std::size_t step) {
    Decoder decoder;
    std::vector<std::string> found;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
        decoder.feed(bytes.substr(at, step));
        Message message;
        for (Decoded result = decoder.next(message); result != Decoded::more;
             result = decoder.next(message)) {
            found.push_back(result == Decoded::message ? message.encode() : decoder.garbled().text);
        }
        fuzz::require(decoder.pending_bytes() <= body_bytes_max + 64 + step);
    }
    return found;
}

void check_again(const std::string& encoded) {
    if (!encoded.starts_with("8=FIX")) return;
    Decoder decoder;
    decoder.feed(encoded);
    Message message;
    if (decoder.next(message) != Decoded::message) return;
    fuzz::require(message.encode() == encoded);
}

std::string completed(std::string_view body) {
    std::string text = fmt::format(
        "8=FIX.4.4\x01"
        "9={}\x01{}",
        body.size(), body);
    unsigned sum = 0;
    for (const char byte : text) sum += static_cast<unsigned char>(byte);
    return text + fmt::format("10={:03}\x01", sum % 256);
}

std::string with_messages(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        result += line.starts_with('=') ? completed(line.substr(1)) : std::string(line);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return result;
}

}  // namespace
}  // namespace strid::exchange::fix

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace strid::exchange::fix;
    const std::string bytes = with_messages(strid::fuzz::text_of(data, size));
    const std::vector<std::string> found = decode(bytes, bytes.size() + 1);
    for (const std::string& one : found) check_again(one);
    std::vector<std::string> messages = found;
    std::vector<std::string> by_bytes = decode(bytes, 1);
    // How much is dropped at once depends on how the bytes arrive.
    const auto is_garbled = [](const std::string& one) {
        return !one.starts_with("8=FIX.4.4\x01");
    };
    std::erase_if(messages, is_garbled);
    std::erase_if(by_bytes, is_garbled);
    strid::fuzz::require(messages == by_bytes);
    return 0;
}
