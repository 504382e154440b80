// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <shapefil.h>

#include <strid/base/error.hpp>

#include "road_files.hpp"

namespace strid::apps::traffic_monitoring {

namespace {

/// The library would print what is wrong; it is thrown here instead. The first fault is the cause.
thread_local std::string last_fault;
void keep_fault(const char* message) {
    if (!last_fault.empty()) return;
    last_fault = message;
    while (!last_fault.empty() && last_fault.back() == '\n') last_fault.pop_back();
}

struct Close {
    void operator()(SHPHandle file) const { SHPClose(file); }
    void operator()(DBFHandle file) const { DBFClose(file); }
    void operator()(SHPObject* object) const { SHPDestroyObject(object); }
};
using ShapeFile = std::unique_ptr<std::remove_pointer_t<SHPHandle>, Close>;
using Attributes = std::unique_ptr<std::remove_pointer_t<DBFHandle>, Close>;
using Shape = std::unique_ptr<SHPObject, Close>;

/// The functions of the library for files.
const SAHooks& default_hooks() {
    static const SAHooks hooks = [] {
        SAHooks made;
        SASetupDefaultHooks(&made);
        return made;
    }();
    return hooks;
}

/// Opens a file for the library, which allocates for as many shapes as an index claims to have,
/// whatever its length: null, with the fault kept, for an index that is shorter than it says.
SAFile open_file(const char* name, const char* access) {
    constexpr std::size_t length_at = 24;  // in words of two bytes, the highest byte first
    const SAHooks& hooks = default_hooks();
    const SAFile file = hooks.FOpen(name, access);
    const std::string_view path(name);
    if (file == nullptr || !(path.ends_with(".shx") || path.ends_with(".SHX"))) return file;
    std::array<std::uint8_t, length_at + 4> header{};
    if (hooks.FRead(header.data(), header.size(), 1, file) == 1) {
        std::uint64_t says = 0;
        for (std::size_t i = length_at; i != header.size(); ++i) says = says << 8U | header[i];
        says *= 2;
        hooks.FSeek(file, 0, SEEK_END);
        if (const std::uint64_t has = hooks.FTell(file); says > has) {
            keep_fault(
                fmt::format("its .shx says that it has {} bytes, and has {}", says, has).c_str());
            hooks.FClose(file);
            return nullptr;
        }
    }
    hooks.FSeek(file, 0, SEEK_SET);
    return file;
}

/// The first of these attributes that the file has, or -1.
int find_attribute(const Attributes& attributes, std::initializer_list<const char*> names) {
    for (const char* const name : names) {
        const int index = DBFGetFieldIndex(attributes.get(), name);
        if (index >= 0) return index;
    }
    return -1;
}

bool is_polyline(int type) {
    return type == SHPT_ARC || type == SHPT_ARCZ || type == SHPT_ARCM;
}

/// As text: a number of the file may have more digits than a double holds. Empty without a column.
std::string attribute(const RoadCollector& roads, const Attributes& attributes, int record,
                      int column) {
    if (column < 0) return {};
    last_fault.clear();
    const char* const text = DBFReadStringAttribute(attributes.get(), record, column);
    if (text == nullptr || !last_fault.empty()) {
        roads.refuse(fmt::format("shape {}", record),
                     "its attributes cannot be read: the .dbf is cut");
    }
    return text;
}

}  // namespace

std::vector<Road> read_shapefile_roads(const std::string& path) {
    RoadCollector roads(path);
    SAHooks hooks = default_hooks();
    hooks.FOpen = open_file;
    hooks.Error = keep_fault;
    last_fault.clear();
    const ShapeFile file(SHPOpenLL(path.c_str(), "rb", &hooks));
    if (!file) {
        throw InputOutputError(fmt::format(
            "{}: {}", path,
            last_fault.empty() ? "is no shapefile, or its .shx is missing" : last_fault));
    }
    const Attributes attributes(DBFOpenLL(path.c_str(), "rb", &hooks));
    if (!attributes) throw InputOutputError(path + ": its .dbf is missing or cut");
    int count = 0;
    int type = SHPT_NULL;
    SHPGetInfo(file.get(), &count, &type, nullptr, nullptr);
    if (!is_polyline(type)) {
        throw InputOutputError(
            fmt::format("{}: holds shapes of type {}, not polylines", path, SHPTypeName(type)));
    }
    const int id = find_attribute(attributes, {"road", "id", "osm_id"});
    const int oneway = find_attribute(attributes, {"oneway", "one_way"});
    for (int record = 0; record < count; ++record) {
        const std::string where = fmt::format("shape {}", record);
        last_fault.clear();
        const Shape shape(SHPReadObject(file.get(), record));
        if (!shape || !last_fault.empty()) {
            roads.refuse(where,
                         last_fault.empty() ? "cannot be read: the file is cut" : last_fault);
        }
        if (shape->nSHPType == SHPT_NULL) continue;
        const std::string text = attribute(roads, attributes, record, oneway);
        const auto driven = read_driven(text);
        if (!driven) roads.refuse(where, fmt::format("oneway '{}' is not known", text));
        for (int part = 0; part < shape->nParts; ++part) {
            const int end =
                part + 1 < shape->nParts ? shape->panPartStart[part + 1] : shape->nVertices;
            std::vector<Position> points;
            for (int i = shape->panPartStart[part]; i < end; ++i) {
                points.push_back({shape->padfY[i], shape->padfX[i]});
            }
            roads.add(read_identifier(attribute(roads, attributes, record, id)),
                      static_cast<std::size_t>(record), *driven, std::move(points), where);
        }
    }
    return roads.take();
}

}  // namespace strid::apps::traffic_monitoring
