package main

import (
	"slices"
	"strings"
)

// This command has other names, as links to it: mpicc, mpicxx, mpifort and their other names are
// compilers, mpiexec and mpirun are banyan run. scripts/library.sh installs smaller commands by all
// of these names, those of the directories mpicc and mpiexec; the latter calls this one for what it
// can't do.

// isLauncher says whether a name is one of banyan run.
func isLauncher(name string) bool {
	name = strings.TrimSuffix(name, ".banyan")
	return name == "mpiexec" || name == "mpirun"
}

// launcherArgs are the arguments of banyan for those of mpiexec.
func launcherArgs(args []string) []string {
	if len(args) == 1 && slices.Contains([]string{"--version", "-version", "-V"}, args[0]) {
		return []string{"--version"}
	}
	return append([]string{"run"}, args...)
}
