// SPDX-License-Identifier: Apache-2.0
//
// libstrid_witness.so, preloaded before an allocator: writes which object of a process malloc comes
// from. A preload library that cannot be loaded is only a warning of the loader, and a program with
// a malloc of its own uses that one; so each process of a measured command bears witness when it
// starts.
//
// One line for each program that starts, appended to the file STRID_MEMORY_WITNESS by one write:
// pid, tab, executable, tab, the object. It asks for no memory. Where the file cannot be written
// there is no line, and the run counts as not verified.

#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

namespace {

constexpr std::size_t line_bytes_max = 3 * 4096;

/// The object that defines what malloc is in this process; "" where the program itself does.
const char* object_of_malloc() {
    Dl_info found{};
    const ElfW(Sym)* symbol = nullptr;
    void* first = ::dlsym(RTLD_DEFAULT, "malloc");
    if (first == nullptr ||
        ::dladdr1(first, &found, reinterpret_cast<void**>(const_cast<ElfW(Sym)**>(&symbol)),
                  RTLD_DL_SYMENT) == 0) {
        return nullptr;
    }
    if (symbol != nullptr && symbol->st_shndx == SHN_UNDEF) {
        // The program takes malloc's address and has a stub for it. This library comes before every
        // other one, so the next definition is the one that the stub calls.
        void* next = ::dlsym(RTLD_NEXT, "malloc");
        if (next == nullptr || ::dladdr(next, &found) == 0) return nullptr;
    }
    return found.dli_fname;
}

__attribute__((constructor)) void bear_witness() {
    const char* path = std::getenv("STRID_MEMORY_WITNESS");
    const char* object = object_of_malloc();
    if (path == nullptr || object == nullptr) return;
    static char program[4096];
    const ssize_t size = ::readlink("/proc/self/exe", program, sizeof program - 1);
    if (size < 0) return;
    program[size] = '\0';
    static char line[line_bytes_max];
    const int bytes = std::snprintf(line, sizeof line, "%d\t%s\t%s\n", static_cast<int>(::getpid()),
                                    program, object);
    if (bytes <= 0 || static_cast<std::size_t>(bytes) >= sizeof line) return;
    const int file = ::open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (file < 0) return;
    const ssize_t written = ::write(file, line, static_cast<std::size_t>(bytes));
    static_cast<void>(written);  // the run is not verified then
    ::close(file);
}

}  // namespace
