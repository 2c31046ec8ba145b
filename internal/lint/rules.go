// Package lint holds the rules of the house that no ready-made tool checks, and
// the test that enforces them on every Go file of the module:
//
//   - imports go down only (layers), and other modules are imported only where
//     they belong (dependencies);
//   - protocol packages are pure (pure), so that one code runs under the
//     simulator, the progress engine and the tests alike: the design's
//     section 1;
//   - every file is formatted, none is a god file, every package says its job.
//
// The rules are the tables of this file. Each has a snippet in lint_test.go that
// breaks it, so that a rule which has stopped biting is noticed. Test files are
// exempt from the rules about imports and purity.
package lint

// moduleName is the module whose files are checked; paths in the tables are
// relative to it.
const moduleName = "banyan"

// A layer says what the packages that match a pattern may import from this
// module. The first row that matches a package counts. In a pattern, "*" stands for one
// path element and a final "..." for the rest, also if that is empty.
type layer struct {
	packages string
	imports  []string
}

// layers goes from the ground up: a row names only packages of rows above it (or
// parents of its own), which TestLayersGoDown checks.
var layers = []layer{
	{"internal/proto", nil},
	{"internal/topology", []string{"internal/proto"}},
	{"internal/varint", nil},
	{"internal/proto/*", []string{"internal/proto", "internal/topology", "internal/varint"}}, // never each other
	{"internal/wire", []string{"internal/proto"}},
	{"internal/wire/views", []string{"internal/proto", "internal/proto/*"}},
	{"internal/fault", []string{"internal/proto"}},
	{"internal/trace", []string{"internal/proto"}},
	{"internal/trace/*", []string{"internal/proto", "internal/trace"}}, // what is made of traces
	{"internal/pmi", nil},
	{"internal/report", nil},
	{"internal/risk", nil},                             // arithmetic for planning
	{"internal/viewtime", []string{"internal/risk"}},   // the same, for views
	{"internal/resilience", []string{"internal/risk"}}, // the same, for replication
	{"internal/parallel", nil},
	{"internal/probing", []string{"internal/parallel"}},

	// The simulated driver.
	{"internal/logp", []string{"internal/proto", "internal/proto/*", "internal/topology", "internal/trace", "internal/fault"}},
	{"internal/viewsim", []string{"internal/proto", "internal/proto/*", "internal/parallel"}},
	{"internal/reproduce/membership", []string{"internal/report", "internal/proto", "internal/risk", "internal/viewtime", "internal/viewsim"}},
	{"internal/incremental", []string{"internal/proto", "internal/proto/*", "internal/topology", "internal/logp"}},
	{"internal/campaign", []string{"internal/proto", "internal/proto/*", "internal/topology", "internal/logp", "internal/incremental"}},
	{"internal/reproduce/correctedtrees", []string{"internal/report", "internal/proto", "internal/proto/*", "internal/topology",
		"internal/logp", "internal/incremental", "internal/campaign", "internal/parallel"}},

	// The one-port driver, for failure detectors.
	{"internal/oneport", []string{"internal/proto"}},
	{"internal/qos", []string{"internal/proto", "internal/proto/*", "internal/topology", "internal/oneport", "internal/parallel", "internal/report"}},
	{"internal/stabilisation", []string{"internal/proto", "internal/proto/*", "internal/topology", "internal/parallel", "internal/oneport"}},
	{"internal/reproduce/failuredetector", []string{"internal/report", "internal/proto", "internal/risk", "internal/probing", "internal/stabilisation"}},

	// The real driver, from the network up to the program.
	{"internal/transport", []string{"internal/proto", "internal/wire"}},
	{"internal/transport/stream", []string{"internal/proto", "internal/wire", "internal/transport"}},
	{"internal/transport/tcp", nil},
	{"internal/transport/shm", []string{"internal/proto", "internal/wire", "internal/transport"}},
	{"internal/transport/mesh", []string{"internal/proto", "internal/wire", "internal/transport", "internal/transport/stream", "internal/transport/shm", "internal/transport/tcp"}},
	{"internal/transport/*", []string{"internal/proto", "internal/wire", "internal/transport", "internal/transport/stream"}},
	{"internal/control", []string{"internal/proto"}},
	{"internal/vacancy", []string{"internal/proto", "internal/proto/*"}},                                                                   // which dead process is replaced next: of replica, the layout
	{"internal/warden", []string{"internal/proto", "internal/proto/*", "internal/control", "internal/vacancy", "internal/transport/mesh"}}, // spare processes: of mesh, its handshake
	{"internal/state", nil},
	{"internal/process", []string{"internal/proto", "internal/proto/*", "internal/topology", "internal/wire", "internal/wire/views", "internal/transport", "internal/state", "internal/varint"}},
	{"internal/progress", []string{"internal/proto", "internal/proto/*", "internal/transport", "internal/process", "internal/state"}},
	{"internal/determinism", []string{"internal/proto", "internal/proto/*", "internal/progress"}}, // what replicas call, compared
	{"internal/job", []string{"internal/proto", "internal/proto/*", "internal/transport", "internal/transport/*",
		"internal/process", "internal/progress", "internal/control", "internal/warden", "internal/pmi", "internal/fault", "internal/trace", "internal/wire", "internal/determinism"}},
	{"internal/comm", []string{"internal/proto", "internal/process", "internal/progress", "internal/state", "internal/varint"}},
	{"internal/softfloat", nil},
	{"internal/datatype", []string{"internal/softfloat"}},
	{"internal/reduce", []string{"internal/softfloat", "internal/datatype"}},
	{"abi", nil},
	{"abi/generate", []string{"abi"}},
	{"fortran/generate", []string{"abi"}},
	{"internal/grid", nil}, // arithmetic of Cartesian topologies
	{"internal/binding", []string{"internal/proto", "internal/process", "internal/progress", "internal/comm", "internal/datatype", "internal/reduce", "internal/grid", "internal/state"}},
	{"capi/test", nil},
	{"capi", []string{"internal/progress", "internal/job", "internal/binding", "internal/datatype"}},
	{"mpi", []string{"internal/proto/*", "internal/process", "internal/progress", "internal/job", "internal/comm", "internal/state"}},

	// Groups: the membership for programs without ranks.
	{"internal/gathering", []string{"internal/proto", "internal/proto/*", "internal/topology", "internal/wire", "internal/wire/views"}},
	{"group", []string{"internal/gathering", "internal/proto/*"}},

	// The launcher knows nothing of the programs it starts.
	{"internal/launch/output", nil},
	{"internal/launch", []string{"internal/launch/output", "internal/control", "internal/vacancy", "internal/pmi", "internal/fault", "internal/proto", "internal/proto/*", "internal/trace"}}, // of replica, the layout

	{"internal/mpiexec", nil},  // command lines
	{"internal/compiler", nil}, // what mpicc calls

	{"bench", []string{"mpi"}},
	{"bench/processes", nil},
	{"bench/membership", []string{"bench/processes", "internal/gathering", "internal/proto", "internal/proto/*", "internal/wire/views", "internal/risk", "internal/viewtime", "internal/report"}},
	{"bench/peers", nil}, // programs in C
	{"bench/instructions", []string{"bench/peers"}},
	{"bench/replication", []string{"bench/peers", "bench/instructions", "bench/processes", "mpi", "internal/report", "internal/launch", "internal/proto", "internal/proto/*", "internal/trace", "internal/wire"}}, // where processes are bound, and what frames a job sends
	{"bench/startup", []string{"bench/peers"}},
	{"bench/detection", []string{"bench/processes", "internal/proto/*", "internal/job", "internal/progress", "internal/launch", "internal/pmi"}}, // members are whole jobs, and what starts them
	{"cmd/...", []string{"mpi", "bench", "bench/detection", "bench/peers", "bench/instructions", "bench/replication", "bench/startup", "bench/membership", "internal/determinism", "internal/launch", "internal/launch/output", "internal/mpiexec", "internal/compiler", "internal/risk", "internal/probing", "internal/qos", "internal/wire", "internal/logp", "internal/campaign", "internal/stabilisation", "internal/viewtime", "internal/resilience", "internal/viewsim", "internal/fault",
		"internal/trace", "internal/trace/*", "internal/proto", "internal/proto/*", "internal/topology", "internal/report", "internal/reproduce/correctedtrees", "internal/reproduce/failuredetector", "internal/reproduce/membership"}},
	{"examples/cg/matrixmarket", nil},
	{"examples/internal/jobtest", []string{"mpi", "internal/launch", "internal/fault"}}, // for tests
	{"examples/...", []string{"mpi", "group", "examples/cg/matrixmarket"}},
	{"internal/explore", nil},                          // the driver for tests
	{"internal/multihost", nil},                        // hosts for tests
	{"internal/pmi/pmitest", []string{"internal/pmi"}}, // a launcher for tests
	{"internal/lint", nil},
}

// A dependency says where a module that isn't ours may be imported. Those that
// only tests use have no row.
type dependency struct {
	module string
	users  []string
}

var dependencies = []dependency{
	{"github.com/spf13/cobra", []string{"cmd/..."}},
	{"github.com/schollz/progressbar/v3", []string{"cmd/..."}},
	{"go.yaml.in/yaml/v3", []string{"internal/campaign"}},
	{"github.com/parquet-go/parquet-go", []string{"internal/campaign"}},
	{"github.com/spf13/pflag", []string{"cmd/..."}},
	{"github.com/hashicorp/memberlist", []string{"bench/detection"}}, // the peer
	{"gonum.org/v1/plot", []string{"internal/report"}},
	{"gonum.org/v1/gonum", []string{"bench/detection", "bench/replication", "internal/reproduce/*"}},
	{"golang.org/x/sys", []string{"internal/transport/...", "internal/determinism", "internal/multihost", "internal/logp", "internal/progress", "internal/job", "internal/launch/...", "bench/detection", "bench/processes", "bench/instructions", "bench/replication", "cmd/..."}},
}

// pure are the packages that must be state machines or arithmetic: no input or
// output, clock, goroutine, channel, lock, global randomness, nor anything that
// depends on the order of a map.
var pure = []string{"internal/proto", "internal/proto/*", "internal/topology", "internal/process", "internal/state", "internal/varint", "internal/risk", "internal/viewtime", "internal/resilience", "internal/softfloat"}

// pureImports are the packages of the standard library that pure packages may
// use. What is missing is missing on purpose (os, net, log, sync, time, …).
var pureImports = []string{
	"bytes", "cmp", "container/heap", "encoding/binary", "errors", "fmt", "hash/crc32", "iter", "math", "math/bits",
	"math/rand/v2", "slices", "sort", "strconv", "strings",
}

// impureNames are names of those packages that pure packages may not use all the
// same: they write to the standard output, or draw from the global source.
var impureNames = map[string][]string{
	"fmt": {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
	"math/rand/v2": {"ExpFloat64", "Float32", "Float64", "Int", "Int32", "Int32N", "Int64", "Int64N", "IntN", "N",
		"NormFloat64", "Perm", "Shuffle", "Uint", "Uint32", "Uint32N", "Uint64", "Uint64N", "UintN"},
}

// mapOrderMark begins the comment that allows a range over a map in a pure
// package, on the line above or inside the loop; the reason why the order can't
// be seen follows.
const mapOrderMark = "//banyan:maporder"

// maxLines is how long a Go file may be, but for tests and generated files.
const maxLines = 500

// longFiles are the files that may be longer, with the number of lines they may have.
var longFiles = map[string]int{}
