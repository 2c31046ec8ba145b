// Package installed tests what make dist makes: that a second build elsewhere gives the same bytes,
// that programs are for the processor that their package names, and that the package is all that a
// bare Debian needs to build and run programs in C, Fortran, Python and Go.
//
// # What is left behind
//
// Nothing, also after a crash. The bare Debian is on a file system in memory that is mounted in a
// namespace of its own. When the first process there dies, all do, and the kernel removes what
// they had mounted.
//
// # Limits
//
// The tests need root, a mirror of Debian, some minutes, and a gigabyte of memory. So make
// test-dist runs them, and make test doesn't. Packages for another processor are looked at, and not
// run.
package installed

import (
	"context"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// room is where the bare Debian is mounted: a directory that each system has. Outside of the
// namespace it stays as it is.
const room = "/mnt"

// Bare returns the command that runs a script of bash, with its arguments, in namespaces of its
// own, with an empty file system on room. All that the script starts dies with the command, and
// the command dies with the thread that starts it: lock that to its goroutine.
func Bare(ctx context.Context, script string, args ...string) *exec.Cmd {
	begin := "mount -t tmpfs -o mode=755,size=3g banyan-installed " + room + "\n"
	cmd := exec.CommandContext(ctx, "unshare", append([]string{"--mount", "--pid", "--fork", "--kill-child", "--mount-proc",
		"bash", "-euo", "pipefail", "-c", begin + script, "bash"}, args...)...)
	cmd.Env = environment(cmd.Environ())
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// environment is one without what would lead programs to the source tree, or have them speak
// another language.
func environment(all []string) (some []string) {
	for _, entry := range all {
		name, _, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, "BANYAN_") || strings.HasPrefix(name, "GO") || strings.HasPrefix(name, "LC_") || name == "LANG" || name == "LD_LIBRARY_PATH" {
			continue
		}
		some = append(some, entry)
	}
	return append(some, "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive")
}
