# Installs Banyan's package on the bare Debian in which it runs, and tries it. Each step that has
# worked is a line "ok STEP". installed_test.go wants them all.
set -euo pipefail

home=/usr/lib/banyan
examples=/usr/share/doc/banyan/examples
ok() { echo "ok $*"; }
die() { echo "failed: $*" >&2; exit 1; }
apt() { apt-get -qq -o Dpkg::Use-Pty=0 -y --no-install-recommends "$@" >/dev/null; }
useradd --create-home --shell /bin/bash someone
# as someone: a shell in an empty directory of that user's, whose commands are shown if they fail
user() {
	rm -rf /home/someone/work && mkdir /home/someone/work && chown someone /home/someone/work
	(cd /home/someone/work && setpriv --reuid someone --regid someone --init-groups env HOME=/home/someone USER=someone bash -euo pipefail -c "$1" 2>/tmp/err) ||
		{ code=$?; cat /tmp/err >&2; die "$1 (exit code $code)"; }
}
sums() { # a job of four ranks has printed the right lines
	[ "$(sort)" = "$(printf 'rank %s: the sum of all ranks is 6\n' 0 1 2 3)" ]
}
export -f sums

# In the steps each command has a line of its own: bash goes on when one fails that is followed by &&.
apt update
apt install /dist/banyan.deb
ok package

banyan --version | grep -q '^Banyan [0-9]'
user 'mpiexec -n 3 true
mpiexec.banyan --version >/dev/null'
user 'banyan demo >out
grep "same 102 lines, byte by byte; 4 processes were killed" out'
ok demo

if mpicc -c x.c 2>/tmp/err; then die "mpicc works without a compiler"; fi
grep -q 'mpicc: the compiler gcc' /tmp/err
ok no-compiler

apt install gcc libc6-dev gfortran python3-minimal libpython3-stdlib pkgconf cmake make environment-modules man-db bash-completion

user "cp $examples/heat.c .
mpicc -O2 -Wall -Werror -o heat heat.c -lm
mpiexec -n 4 ./heat 60 >alone
mpiexec -n 4 --replicas 2 --fault 'kill rank=1 at=send:50' ./heat 60 >killed 2>err
cmp alone killed
grep -q 'rank 1 replica 0 .* died' err
ldd heat | grep -q '$home/lib/libmpi_abi.so.1'"
ok c

user "mpifort -o sum $examples/sum.f90
mpiexec -n 4 ./sum | sums"
ok fortran

user "mpiexec -n 4 python3 $examples/sum.py | sums
[ \"\$(python3 $examples/sum.py)\" = 'rank 0: the sum of all ranks is 0' ]"
ok python

user "cp $home/share/banyan/go/examples/ring/main.go .
export PATH=\$PATH:/usr/local/go/bin GOTOOLCHAIN=local GOPROXY=file:///proxy GOSUMDB=off GOFLAGS=-buildvcs=false CGO_ENABLED=0
go mod init first
go mod edit -require banyan@v0.0.0 -replace banyan=$home/share/banyan/go
go mod tidy
go build
banyan run -n 4 --replicas 2 ./first >out
[ -s out ]
[ \"\$(go version -m first | awk '\$1 == \"dep\" { print \$2 }' | xargs)\" = 'banyan golang.org/x/sys' ]"
ok go

user "gcc \$(pkg-config --cflags banyan) -O2 -o heat $examples/heat.c \$(pkg-config --libs banyan) -lm
mpiexec -n 2 ./heat 20"
ok pkg-config

cmake() { # package, prefix of its targets
	user "cp $examples/heat.c $examples/sum.f90 .
cat >CMakeLists.txt <<EOF
cmake_minimum_required(VERSION 3.10)
project(try C Fortran)
find_package($1 REQUIRED)
add_executable(heat heat.c)
target_link_libraries(heat $2C m)
add_executable(sum sum.f90)
target_link_libraries(sum $2Fortran)
EOF
cmake -S . -B build >log
cmake --build build >>log
mpiexec -n 2 build/heat 20
mpiexec -n 4 build/sum | sums"
}
cmake Banyan Banyan::
ok cmake-config
cmake MPI MPI::MPI_
ok cmake-mpi

user "source /etc/profile.d/modules.sh
module load banyan
[ \"\$(command -v mpicc)\" = $home/bin/mpicc ]
[ \"\$MPI_HOME\" = $home ]"
ok module

for page in banyan banyan-run mpicc mpiexec mpicc.banyan; do
	user "MANWIDTH=100 man $page | grep SYNOPSIS"
done
ok man

user "set +eu
source /usr/share/bash-completion/bash_completion
source /usr/share/bash-completion/completions/banyan
COMP_LINE='banyan dem' COMP_POINT=10 COMP_WORDS=(banyan dem) COMP_CWORD=1
__start_banyan
[[ \${COMPREPLY[0]} = demo* ]]"
ok completion

# Unpacked anywhere, the tarball is a whole installation, which can be moved.
user "tar -xzf /dist/banyan.tar.gz
mv banyan-* here
export PATH=\$PWD/here/bin:\$PATH
mpicc -O2 -o heat $examples/heat.c -lm
ldd heat | grep -q work/here/lib/libmpi_abi.so.1
mpiexec -n 2 ./heat 20
PKG_CONFIG_PATH=\$PWD/here/lib/pkgconfig pkg-config --libs banyan | grep -q work/here
mv here there
there/bin/mpicc -O2 -o again $examples/heat.c -lm
there/bin/mpiexec -n 2 ./again 20"
ok tarball

# Open MPI, whose mpirun has the higher priority, and Banyan don't disturb each other.
apt install openmpi-bin
[ "$(readlink -f /usr/bin/mpirun)" != $home/bin/mpiexec ]
user "mpiexec.banyan -n 4 python3 $examples/sum.py | sums"
apt purge openmpi-bin openmpi-common
[ "$(readlink -f /usr/bin/mpirun)" = $home/bin/mpiexec ]
ok beside-openmpi

apt purge banyan
for name in $home /usr/bin/mpicc /usr/bin/mpirun /usr/bin/banyan /usr/lib/*/libmpi_abi.so.1; do
	if [ -e "$name" ] || [ -L "$name" ]; then die "$name is left"; fi
done
ok purge
