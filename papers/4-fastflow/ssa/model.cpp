// SPDX-License-Identifier: Apache-2.0
#include "model.hpp"

#include <array>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/connector/byte_reader.hpp>

#include "sbml_model.hpp"

namespace strid::ssa {

namespace {

constexpr std::size_t model_bytes_max = std::size_t{64} << 20U;

std::string read_all(const std::string& path, const std::function<void()>& wait) {
    ByteReader reader(path);
    std::string text;
    std::array<char, 65'536> buffer;
    while (true) {
        const auto [status, bytes] = reader.read(buffer, 100);
        if (status == ByteReader::Status::end) return text;
        wait();
        if (status == ByteReader::Status::read) text.append(buffer.data(), bytes);
        if (text.size() > model_bytes_max) {
            throw InputOutputError(
                fmt::format("{}: a model of more than {} bytes", path, model_bytes_max));
        }
    }
}

}  // namespace

Network read_model(const std::string& path, const std::function<void()>& wait) {
    const std::string text = read_all(path, wait);
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string::npos) {
        throw InputOutputError(fmt::format("{}: the model is empty", path));
    }
    Network network =
        text[begin] == '<' ? read_sbml_model(path, text) : read_text_model(path, text);
    if (network.species.empty()) {
        throw InputOutputError(fmt::format("{}: the model has no species", path));
    }
    return network;
}

}  // namespace strid::ssa
