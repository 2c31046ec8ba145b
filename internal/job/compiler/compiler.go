// Package compiler implements mpicc, mpicxx and mpifort. They call the real compiler with the flags
// that a program needs to find mpi.h and the library, or print these flags.
//
// They answer build systems, such as CMake's FindMPI, that ask with Open MPI's options
// (-showme:compile, -showme:link …) or with MPICH's (-show, -compile-info, -link-info).
//
// # Limits
//
// Static linking isn't possible, because the library is shared. A path with white space can be
// used, but is printed unquoted, as build systems expect.
package compiler

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"banyan/internal/job/env"
)

// Language is the language that a wrapper compiles.
type Language int

// The languages.
const (
	C Language = iota
	CXX
	Fortran
)

// wrappers are the names of the wrappers.
var wrappers = map[string]Language{
	"mpicc":  C,
	"mpicxx": CXX, "mpic++": CXX, "mpiCC": CXX,
	"mpifort": Fortran, "mpif77": Fortran, "mpif90": Fortran,
}

// Named is the language of the wrapper of this name, if there is one. In Debian's packages names
// end in that of the library, as mpicc.banyan does.
func Named(name string) (Language, bool) {
	l, ok := wrappers[strings.TrimSuffix(name, ".banyan")]
	return l, ok
}

// choices are the variables that name another compiler. The first that is set counts: ours, then
// those that users of other MPIs may have set.
var choices = map[Language][]string{
	C:       {env.CC, "MPICH_CC", "OMPI_CC"},
	CXX:     {env.CXX, "MPICH_CXX", "OMPI_CXX"},
	Fortran: {env.FC, "MPICH_FC", "OMPI_FC"},
}

var defaults = map[Language]string{C: "gcc", CXX: "g++", Fortran: "gfortran"}

// Installation is where the library and its headers are.
type Installation struct {
	Include string // has mpi.h, and the files that Fortran needs
	Lib     string // has libmpi_abi.so
}

// Find looks for the installation of a program in bin: PREFIX/include and PREFIX/lib, or the source
// tree that has bin.
func Find(bin string) (Installation, error) {
	prefix := filepath.Dir(bin)
	first := func(file string, dirs ...string) (string, error) {
		for _, dir := range dirs {
			if _, err := os.Stat(filepath.Join(dir, file)); err == nil {
				return dir, nil
			}
		}
		return "", fmt.Errorf("there is no %s in %s: is Banyan built (make build) or installed (make install) whole?", file, strings.Join(dirs, " or "))
	}
	var at Installation
	var err error
	if at.Include, err = first("mpi.h", filepath.Join(prefix, "include"), filepath.Join(bin, "include")); err != nil {
		return at, err
	}
	at.Lib, err = first("libmpi_abi.so", filepath.Join(prefix, "lib"), bin)
	return at, err
}

// Wrapper is one call of a wrapper.
type Wrapper struct {
	Language Language
	At       Installation
	// Getenv looks variables up, as os.Getenv does.
	Getenv func(string) string
	// Version is the answer to -showme:version.
	Version string
}

// Command is the command to run, or, if tell isn't empty, the text to print instead.
func (w *Wrapper) Command(args []string) (argv []string, tell string) {
	if i := slices.IndexFunc(args, asks); i >= 0 {
		rest := slices.Delete(slices.Clone(args), i, i+1)
		return nil, w.answer(args[i], rest)
	}
	return w.line(args), ""
}

// asks says whether an argument asks for flags.
func asks(arg string) bool {
	return strings.HasPrefix(arg, "-showme") || strings.HasPrefix(arg, "--showme") ||
		arg == "-show" || arg == "--show" || arg == "-compile-info" || arg == "-compile_info" || arg == "-link-info" || arg == "-link_info"
}

// answer answers a question for flags.
func (w *Wrapper) answer(question string, rest []string) string {
	say := func(words ...[]string) string { return strings.Join(slices.Concat(words...), " ") + "\n" }
	_, topic, _ := strings.Cut(question, ":")
	switch topic {
	case "compile":
		return say(w.compile())
	case "link":
		return say(w.link())
	case "incdirs":
		return say([]string{w.At.Include})
	case "libdirs":
		return say([]string{w.At.Lib})
	case "libs":
		return say(w.libraries())
	case "command":
		return say(w.compiler())
	case "version":
		return say([]string{w.Version})
	}
	switch strings.TrimLeft(question, "-") {
	case "compile-info", "compile_info":
		return say(w.compiler(), w.compile())
	case "link-info", "link_info":
		return say(w.compiler(), w.link())
	}
	if len(rest) == 0 { // all flags, as if there were a program
		return say(w.compiler(), w.compile(), w.link())
	}
	return say(w.line(rest))
}

// compiler is the real compiler. The variable may have flags, too.
func (w *Wrapper) compiler() []string {
	for _, name := range choices[w.Language] {
		if words := strings.Fields(w.Getenv(name)); len(words) > 0 {
			return words
		}
	}
	return []string{defaults[w.Language]}
}

func (w *Wrapper) compile() []string {
	flags := []string{"-I" + w.At.Include}
	if w.Language == Fortran {
		// A procedure takes buffers of any type under one name.
		flags = append(flags, "-fallow-argument-mismatch")
	}
	return flags
}

func (w *Wrapper) link() []string {
	flags := []string{"-L" + w.At.Lib, "-Wl,-rpath," + w.At.Lib}
	for _, l := range w.libraries() {
		flags = append(flags, "-l"+l)
	}
	if w.Language == Fortran {
		// The program calls mpi_abi's functions by mpifort_abi's. But some of them have to
		// come before the C library's, so it must be among the program's own libraries.
		at := len(flags) - 1
		flags = append(flags[:at:at], "-Wl,--push-state,--no-as-needed", flags[at], "-Wl,--pop-state")
	}
	return flags
}

func (w *Wrapper) libraries() []string {
	if w.Language == Fortran {
		return []string{"mpifort_abi", "mpi_abi"}
	}
	return []string{"mpi_abi"}
}

// line is the whole command for the arguments. Libraries come last, because the linker searches
// them once.
func (w *Wrapper) line(args []string) []string {
	words := w.compiler()
	if !slices.ContainsFunc(args, isInput) { // such as --version
		return append(words, args...)
	}
	words = append(append(words, w.compile()...), args...)
	if slices.ContainsFunc(args, func(a string) bool { return slices.Contains(unlinked, a) }) {
		return words
	}
	return append(words, w.link()...)
}

// unlinked are the flags with which a compiler doesn't link.
var unlinked = []string{"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only"}

// isInput says whether an argument names a file to compile or link.
func isInput(arg string) bool {
	return arg == "-" || arg != "" && arg[0] != '-' || strings.HasPrefix(arg, "-l")
}
