#!/bin/sh
# Installs what building and running Askr needs, if anything is missing:
#   - the Rust toolchain that rust-toolchain.toml names, from rustup or from Debian's packages
#   - QEMU, a linker, setpriv, and certificates for cargo's downloads
#   - musl-gcc, for programs in C
# It says what it does before it does it, and needs root only to install packages. With nothing missing it takes
# a fraction of a second.
#
# usage: ./qemu/setup.sh [--dry-run] [--road rustup|debian] [--fuzz] [--image] [--capture]
#   --dry-run  print the commands, run none of them
#   --road     where the toolchain comes from; without it: a toolchain that fits is taken as it is, then rustup
#              if it is there and can fetch, then Debian's packages
#   --fuzz     also what fuzz/run.sh needs: a C++ compiler
#   --image    also what the feature disk-image needs: LLVM's tools in the toolchain, UEFI firmware for QEMU
#   --capture  also what reads captures of COM2: tshark
set -eu

cd "$(dirname "$0")/.."

# The name of Debian's toolchain in rustup.
LINKED=askr-debian
TARGET=x86_64-unknown-none
QEMU_OLDEST=7.0
# rust-lld (in rustc-web) is a link into lld-22; the tools in rust-web-llvm strip the user programs.
DEBIAN_RUST="rustc-web cargo-web rust-web-src rust-web-clippy rustfmt-web rust-web-llvm lld-22"
CHANNEL=$(sed -n 's/^channel *= *"\(.*\)"/\1/p' rust-toolchain.toml)
# The checks below must not make rustup fetch anything.
export RUSTUP_AUTO_INSTALL=0
# A server that says nothing for so long, in seconds, is none; rustup's own patience is minutes.
export RUSTUP_DOWNLOAD_TIMEOUT="${RUSTUP_DOWNLOAD_TIMEOUT:-30}"
# Where rustup can't fetch, its message is enough.
export RUST_BACKTRACE=0

dry_run=no
road=auto
fuzz=no
image=no
capture=no

say() { printf 'setup: %s\n' "$*"; }
fail() { printf 'setup: %s\n' "$*" >&2; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

# Runs a command, after showing it.
run() {
    if [ $dry_run = yes ]; then
        printf '  would run: %s\n' "$*"
    else
        printf '  + %s\n' "$*"
        "$@"
    fi
}

# version_at_least HAVE WANT: compares major and minor.
version_at_least() {
    have_rest=${1#*.} want_rest=${2#*.}
    have_major=${1%%.*} want_major=${2%%.*} have_minor=${have_rest%%.*} want_minor=${want_rest%%.*}
    [ "$have_major" -gt "$want_major" ] ||
        { [ "$have_major" -eq "$want_major" ] && [ "$have_minor" -ge "$want_minor" ]; }
}

# Whether the toolchain that cargo would use in this folder has all parts.
toolchain_fits() {
    have cargo || return 1
    version=$(rustc --version 2>/dev/null | sed -n 's/^rustc \([0-9]*\.[0-9]*\).*/\1/p')
    [ -n "$version" ] && version_at_least "$version" "$CHANNEL" || return 1
    sysroot_fits "$(rustc --print sysroot)"
}

# Whether the toolchain in this folder has all parts: clippy, rustfmt, and `core` for the guest, ready-made or
# as source with the linker for it.
sysroot_fits() {
    [ -x "$1/bin/cargo" ] && [ -x "$1/bin/cargo-clippy" ] && [ -x "$1/bin/rustfmt" ] || return 1
    [ -d "$1/lib/rustlib/$TARGET/lib" ] ||
        { [ -f "$1/lib/rustlib/src/rust/library/Cargo.toml" ] && [ -x "$1/bin/rust-lld" ]; }
}

# need_root COMMAND: sets as_root to what comes before a command so that root runs it; COMMAND is shown if nothing can.
need_root() {
    as_root=
    [ "$(id -u)" -ne 0 ] || return 0
    have sudo || [ $dry_run = yes ] || fail "as root, please run: $*"
    as_root=sudo
}

# Installs Debian packages. Old package lists are fetched again, once.
apt_install() {
    have apt-get || fail "please install with your package manager what Debian calls: $*"
    need_root "apt-get install -y $*"
    # shellcheck disable=SC2086 # $as_root is one word or none
    {
        run $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$@" && return
        say "apt-get failed; its package lists may be old, fetching them"
        run $as_root apt-get update -qq ||
            fail "can't reach the package servers; check the network, then: ${as_root:+sudo }apt-get update"
        run $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$@" && return
    }
    for package; do
        # Quiet about a package that apt knows nothing of.
        apt-cache show "$package" >/dev/null 2>&1 || fail "no package source of this machine has $package; $(source_hint)"
    done
    fail "apt-get can't install these packages; its messages are above, the command is: apt-get install $*"
}

# Prints what brings a package that no source has.
source_hint() {
    if grep -qs '^VERSION_CODENAME=bookworm' /etc/os-release; then
        echo "add Debian's security suite: echo 'deb http://deb.debian.org/debian-security bookworm-security main'" \
            "| sudo tee /etc/apt/sources.list.d/security.list"
    else
        echo "Askr's packages are those of Debian 12; here get Rust from https://rustup.rs and run this again"
    fi
}

# Prints those of the packages that are not installed.
missing_packages() {
    for package; do
        state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || state=none
        [ "$state" = installed ] || printf '%s ' "$package"
    done
}

# Whether QEMU's UEFI firmware is where the runner looks for it (qemu/boot_image.rs).
has_firmware() {
    [ -e /usr/share/OVMF/OVMF_CODE_4M.fd ] || [ -e /usr/share/OVMF/OVMF_CODE.fd ] ||
        [ -e /usr/share/edk2/x64/OVMF_CODE.4m.fd ] || [ -e /usr/share/edk2/ovmf/OVMF_CODE.fd ]
}

# Prints the packages of the tools that are missing.
missing_tools() {
    have qemu-system-x86_64 || printf 'qemu-system-x86 '
    have setpriv || printf 'util-linux '
    have cc || printf 'gcc '
    [ $fuzz = no ] || have c++ || printf 'g++ '
    [ $image = no ] || has_firmware || printf 'ovmf '
    [ $capture = no ] || have tshark || printf 'tshark '
    [ -e /usr/include/stdlib.h ] || printf 'libc6-dev '
    have musl-gcc || printf 'musl-tools '
    # cargo fetches over TLS; a minimal Debian has no certificates.
    if have apt-get && [ ! -e /etc/ssl/certs/ca-certificates.crt ]; then printf 'ca-certificates '; fi
}

install_tools() {
    tools=$(missing_tools)
    if [ -n "$tools" ]; then
        say "installing from Debian: $tools"
        # shellcheck disable=SC2086 # a list of words
        apt_install $tools
    fi
    [ $dry_run = yes ] && ! have qemu-system-x86_64 && return
    qemu=$(qemu-system-x86_64 --version | sed -n 's/.*version \([0-9]*\.[0-9]*\).*/\1/p')
    version_at_least "${qemu:-0.0}" $QEMU_OLDEST ||
        fail "QEMU ${qemu:-of unknown version} is too old, $QEMU_OLDEST or newer is needed;" \
            "remove $(command -v qemu-system-x86_64), then: apt-get install qemu-system-x86"
}

# The toolchain from rustup, as rust-toolchain.toml says.
rustup_road() {
    have rustup || fail "rustup is not installed; see https://rustup.rs, or: ./qemu/setup.sh --road debian"
    home=${RUSTUP_HOME:-$HOME/.rustup}
    if ! sysroot_fits "$home/toolchains/$CHANNEL-x86_64-unknown-linux-gnu"; then
        say "installing Rust $CHANNEL with rustup (about 300 MB)"
        run rustup toolchain install "$CHANNEL" --no-self-update --profile minimal \
            --component rust-src,llvm-tools,clippy,rustfmt --target $TARGET || return 1
    fi
    case $(rustup show active-toolchain 2>/dev/null) in
    *"directory override"*)
        say "this folder has an override in rustup, which outranks rust-toolchain.toml; removing it"
        run rustup override unset
        ;;
    esac
}

# The toolchain from Debian's packages; where rustup's cargo comes first in PATH, it is told to use them here.
debian_road() {
    have apt-get || fail "there is no apt-get here; install rustup from https://rustup.rs, then run this again"
    # shellcheck disable=SC2086 # a list of words
    packages=$(missing_packages $DEBIAN_RUST)
    if [ -n "$packages" ]; then
        say "installing Rust from Debian: $packages"
        # shellcheck disable=SC2086
        apt_install $packages
    fi
    have rustup || return 0
    case $(rustup show active-toolchain 2>/dev/null) in "$LINKED "*) return 0 ;; esac
    say "telling rustup to use Debian's toolchain in this folder"
    run rustup toolchain link $LINKED /usr
    run rustup override set $LINKED
}

install_toolchain() {
    case $road in
    rustup)
        rustup_road || fail "rustup can't install Rust $CHANNEL; its message is above. Without it:" \
            "./qemu/setup.sh --road debian"
        ;;
    debian) debian_road ;;
    auto)
        toolchain_fits && return
        say "Askr needs Rust $CHANNEL or newer with clippy, rustfmt and $TARGET"
        if have rustup && rustup_road; then
            :
        else
            have rustup && say "rustup can't fetch it (see above); taking Debian's packages"
            debian_road
        fi
        ;;
    esac
    [ $dry_run = yes ] || toolchain_fits ||
        fail "the toolchain is still not complete: $(rustc --version 2>&1 | head -n 1);" \
            "Debian 12 has $CHANNEL in its security suite, else get https://rustup.rs and run this again"
}

# The build of the boot loader looks for LLVM's tools in the toolchain: rustup's has them as a component, Debian's has
# one of them there under another name, a link into LLVM's own folder.
install_image_tools() {
    [ $dry_run = no ] || have rustc || return 0
    bin=$(rustc --print sysroot)/lib/rustlib/x86_64-unknown-linux-gnu/bin
    for tool in llvm-objcopy llvm-objdump; do
        [ ! -x "$bin/$tool" ] || continue
        llvm=$(dirname "$(readlink -f "$bin/rust-objcopy")")
        if [ -x "$llvm/$tool" ] && [ "$llvm" != "$bin" ]; then
            say "linking $tool into the toolchain, where the boot loader's build looks for it"
            need_root "ln -s $llvm/$tool $bin/$tool"
            # shellcheck disable=SC2086 # $as_root is one word or none
            run $as_root ln -sf "$llvm/$tool" "$bin/$tool"
        elif have rustup; then
            say "adding LLVM's tools to the toolchain"
            run rustup component add llvm-tools
            return
        else
            fail "the toolchain has no $tool in $bin"
        fi
    done
}

while [ $# -gt 0 ]; do
    case $1 in
    --dry-run) dry_run=yes ;;
    --fuzz) fuzz=yes ;;
    --image) image=yes ;;
    --capture) capture=yes ;;
    --road)
        [ $# -gt 1 ] || fail "--road needs a word: rustup or debian"
        road=$2
        shift
        ;;
    -h | --help)
        sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "$0"
        exit
        ;;
    *) fail "unknown argument $1; ./qemu/setup.sh --help" ;;
    esac
    shift
done
case $road in auto | rustup | debian) ;; *) fail "--road is rustup or debian, not $road" ;; esac
[ -n "$CHANNEL" ] || fail "rust-toolchain.toml has no channel"

install_tools
install_toolchain
[ $image = no ] || install_image_tools
