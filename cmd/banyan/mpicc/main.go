// Command mpicc is mpicc, mpicxx, mpifort and their other names, which are links to it. Command
// banyan can be called by these names, too. But it has simulators, charts and benchmarks, which
// take some 40 ms of a processor before its main begins: half as long as a compiler needs for a
// small file, for each file of a package and for each question that its configure script asks.
package main

import (
	"os"
	"path/filepath"

	"banyan/cmd/banyan/internal/wrapper"
	"banyan/internal/job/compiler"
)

func main() {
	language, ok := compiler.Named(filepath.Base(os.Args[0]))
	if !ok { // a link with a name of the user's
		language = compiler.C
	}
	os.Exit(wrapper.Run(language, os.Args[1:]))
}
