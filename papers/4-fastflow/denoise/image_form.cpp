// SPDX-License-Identifier: Apache-2.0
#include "image_form.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace strid::denoise {

namespace {

using namespace std::string_view_literals;

struct Signature {
    ImageForm form;
    std::string_view bytes;
};
constexpr std::array signatures = {Signature{ImageForm::png, "\x89PNG\r\n\x1a\n"sv},
                                   Signature{ImageForm::netpbm, "P2"sv},
                                   Signature{ImageForm::netpbm, "P3"sv},
                                   Signature{ImageForm::netpbm, "P5"sv},
                                   Signature{ImageForm::netpbm, "P6"sv},
                                   Signature{ImageForm::jpeg, "\xff\xd8\xff"sv},
                                   Signature{ImageForm::tiff, "II*\0"sv},
                                   Signature{ImageForm::tiff, "MM\0*"sv},
                                   Signature{ImageForm::tiff, "II+\0"sv},
                                   Signature{ImageForm::tiff, "MM\0+"sv}};

struct Extension {
    std::string_view text;
    ImageTarget target;
};
constexpr std::array extensions = {
    Extension{".png", {ImageForm::png}},       Extension{".pgm", {ImageForm::netpbm, 1}},
    Extension{".ppm", {ImageForm::netpbm, 3}}, Extension{".pnm", {ImageForm::netpbm}},
    Extension{".jpg", {ImageForm::jpeg}},      Extension{".jpeg", {ImageForm::jpeg}},
    Extension{".jpe", {ImageForm::jpeg}},      Extension{".jfif", {ImageForm::jpeg}},
    Extension{".tif", {ImageForm::tiff}},      Extension{".tiff", {ImageForm::tiff}}};

/// From the last point of the last part of the path on; empty: there is none.
std::string_view extension_of(std::string_view path) noexcept {
    const std::size_t begin = path.find_last_of("./");
    const bool has_one = begin != std::string_view::npos && path[begin] == '.';
    return has_one ? path.substr(begin) : std::string_view{};
}

}  // namespace

std::optional<ImageForm> form_of_bytes(std::string_view bytes) noexcept {
    const auto begins = [bytes](const Signature& signature) {
        const std::size_t known = std::min(bytes.size(), signature.bytes.size());
        return bytes.substr(0, known) == signature.bytes.substr(0, known);
    };
    const auto* const found = std::ranges::find_if(signatures, begins);
    if (found == signatures.end()) return std::nullopt;
    return found->form;
}

std::string_view form_name(ImageForm form) noexcept {
    constexpr std::array names = {"PNG"sv, "netpbm"sv, "JPEG"sv, "TIFF"sv};
    return names[static_cast<std::size_t>(form)];
}

std::optional<ImageTarget> target_of_name(std::string_view path) {
    std::string extension(extension_of(path));
    std::ranges::transform(extension, extension.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const auto* const found = std::ranges::find(extensions, extension, &Extension::text);
    if (found == extensions.end()) return std::nullopt;
    return found->target;
}

ImageTarget target_of_input(ImageForm input) noexcept {
    return {input == ImageForm::jpeg ? ImageForm::png : input};
}

std::string lossless_name(std::string path) {
    const auto target = target_of_name(path);
    if (!target || target->form != ImageForm::jpeg) return path;
    path.resize(path.size() - extension_of(path).size());
    return path + ".png";
}

}  // namespace strid::denoise
