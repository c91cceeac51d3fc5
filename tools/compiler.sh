#!/bin/sh
# Prints the C++ compiler to build with: $CXX, one in PATH, Debian's g++ where it may be installed,
# or else zig's clang, from PyPI, beside the Python that is given:
#
#     sh tools/compiler.sh .venv/bin/python
set -u
python=$1
zig=$PWD/${python%/bin/*}/zig

in_path() {
    command -v c++ || command -v g++ || command -v clang++
}

install_debian() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    echo "there is no C++ compiler: installing Debian's g++" >&2
    apt="apt-get install -qq -y --no-install-recommends g++"
    { $apt || { apt-get update -qq && $apt; }; } >/dev/null 2>&1
}

# CMake wants one executable, and zig writes the names of processors in another way.
install_zig() {
    echo "there is no C++ compiler: installing zig's, which takes some minutes" >&2
    "$python" -m pip --disable-pip-version-check install --quiet ziglang >/dev/null 2>&1 || return 1
    zig_program=$("$python" -c 'import os, ziglang; print(os.path.dirname(ziglang.__file__))')/zig
    mkdir -p "$zig"
    for call in "c++ -O2" ar ranlib; do  # without -O it would build a C++ library for debugging as well
        tool=${call%% *}
        cat >"$zig/$tool" <<END
#!/bin/sh
for word; do
    shift
    case \$word in -march=x86-64-v*) word=-march=x86_64_v\${word##*v} ;; esac
    set -- "\$@" "\$word"
done
ZIG_GLOBAL_CACHE_DIR="$zig/cache" exec "$zig_program" $call "\$@"
END
        chmod +x "$zig/$tool"
    done
    "$zig/c++" --version >/dev/null 2>&1
}

if [ "${CXX:-}" ]; then
    echo "$CXX"
elif in_path || { install_debian && in_path; }; then
    :
elif [ -x "$zig/c++" ] || install_zig; then
    echo "$zig/c++"
else
    echo "cohmm needs a C++ compiler: install one (Debian: apt-get install g++)" >&2
    exit 1
fi
