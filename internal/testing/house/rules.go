// Package house holds the rules of the house that no ready-made tool checks, and
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
package house

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
	{"internal/layout", []string{"internal/proto"}},
	{"internal/varint", nil},
	{"internal/proto/*", []string{"internal/proto", "internal/topology", "internal/layout", "internal/varint"}}, // never each other
	{"internal/study/protocol/*", []string{"internal/proto", "internal/topology"}},                              // protocols that only studies run
	{"internal/runtime/wire", []string{"internal/proto"}},
	{"internal/runtime/wire/views", []string{"internal/proto", "internal/proto/*"}},
	{"internal/fault", []string{"internal/proto"}},
	{"internal/trace", []string{"internal/proto"}},
	{"internal/trace/*", []string{"internal/proto", "internal/trace"}}, // what is made of traces
	{"internal/job/pmi", nil},
	{"internal/study/report", nil},
	{"internal/study/planning/risk", nil}, // arithmetic for planning
	{"internal/study/planning/viewtime", []string{"internal/study/planning/risk"}},   // the same, for views
	{"internal/study/planning/resilience", []string{"internal/study/planning/risk"}}, // the same, for replication
	{"internal/study/parallel", nil},
	{"internal/study/detection/probing", []string{"internal/study/parallel"}},

	// The simulated driver.
	{"internal/study/driver/logp", []string{"internal/study/protocol/*", "internal/proto", "internal/proto/*", "internal/topology", "internal/trace", "internal/fault"}},
	{"internal/study/driver/viewsim", []string{"internal/study/protocol/*", "internal/proto", "internal/proto/*", "internal/study/parallel"}},
	{"internal/study/reproduce/membership", []string{"internal/study/report", "internal/proto", "internal/study/planning/risk", "internal/study/planning/viewtime", "internal/study/driver/viewsim"}},
	{"internal/study/campaign/incremental", []string{"internal/proto", "internal/proto/*", "internal/topology", "internal/study/driver/logp"}},
	{"internal/study/campaign", []string{"internal/proto", "internal/proto/*", "internal/topology", "internal/study/driver/logp", "internal/study/campaign/incremental"}},
	{"internal/study/reproduce/correctedtrees", []string{"internal/study/report", "internal/proto", "internal/proto/*", "internal/topology",
		"internal/study/driver/logp", "internal/study/campaign/incremental", "internal/study/campaign", "internal/study/parallel"}},

	// The one-port driver, for failure detectors.
	{"internal/study/driver/oneport", []string{"internal/proto"}},
	{"internal/study/detection/qos", []string{"internal/study/protocol/*", "internal/proto", "internal/proto/*", "internal/topology", "internal/study/driver/oneport", "internal/study/parallel", "internal/study/report"}},
	{"internal/study/detection/stabilisation", []string{"internal/proto", "internal/proto/*", "internal/topology", "internal/study/parallel", "internal/study/driver/oneport"}},
	{"internal/study/reproduce/failuredetector", []string{"internal/study/report", "internal/proto", "internal/study/planning/risk", "internal/study/detection/probing", "internal/study/detection/stabilisation"}},

	// The real driver, from the network up to the program.
	{"internal/runtime/transport", []string{"internal/proto", "internal/runtime/wire"}},
	{"internal/runtime/transport/stream", []string{"internal/proto", "internal/runtime/wire", "internal/runtime/transport"}},
	{"internal/runtime/transport/tcp", nil},
	{"internal/runtime/transport/shm", []string{"internal/proto", "internal/runtime/wire", "internal/runtime/transport"}},
	{"internal/runtime/transport/mesh", []string{"internal/proto", "internal/runtime/wire", "internal/runtime/transport", "internal/runtime/transport/stream", "internal/runtime/transport/shm", "internal/runtime/transport/tcp"}},
	{"internal/runtime/transport/*", []string{"internal/proto", "internal/runtime/wire", "internal/runtime/transport", "internal/runtime/transport/stream"}},
	{"internal/job/control", []string{"internal/proto"}},
	{"internal/job/recovery", []string{"internal/layout", "internal/proto", "internal/proto/*"}}, // which dead process is replaced next: of replica, the layout
	{"internal/job/spares", []string{"internal/layout", "internal/proto", "internal/proto/*", "internal/job/control", "internal/job/recovery", "internal/runtime/transport/mesh"}}, // spare processes: of mesh, its handshake
	{"internal/runtime/state", nil},
	{"internal/runtime/process", []string{"internal/layout", "internal/proto", "internal/proto/*", "internal/topology", "internal/runtime/wire", "internal/runtime/wire/views", "internal/runtime/transport", "internal/runtime/state", "internal/varint"}},
	{"internal/runtime/engine", []string{"internal/layout", "internal/proto", "internal/proto/*", "internal/runtime/transport", "internal/runtime/process", "internal/runtime/state"}},
	{"internal/job/check", []string{"internal/proto", "internal/proto/*", "internal/runtime/engine"}}, // what replicas call, compared
	{"internal/job/join", []string{"internal/layout", "internal/proto", "internal/proto/*", "internal/runtime/transport", "internal/runtime/transport/*",
		"internal/runtime/process", "internal/runtime/engine", "internal/job/control", "internal/job/spares", "internal/job/pmi", "internal/fault", "internal/trace", "internal/runtime/wire", "internal/job/check"}},
	{"internal/mpi/comm", []string{"internal/layout", "internal/proto", "internal/runtime/process", "internal/runtime/engine", "internal/runtime/state", "internal/varint"}},
	{"internal/mpi/softfloat", nil},
	{"internal/mpi/datatype", []string{"internal/mpi/softfloat"}},
	{"internal/mpi/reduce", []string{"internal/mpi/softfloat", "internal/mpi/datatype"}},
	{"abi", nil},
	{"abi/generate", []string{"abi"}},
	{"fortran/generate", []string{"abi"}},
	{"internal/mpi/cart", nil}, // arithmetic of Cartesian topologies
	{"internal/mpi/binding", []string{"internal/proto", "internal/runtime/process", "internal/runtime/engine", "internal/mpi/comm", "internal/mpi/datatype", "internal/mpi/reduce", "internal/mpi/cart", "internal/runtime/state"}},
	{"capi/test", nil},
	{"capi", []string{"internal/runtime/engine", "internal/job/join", "internal/mpi/binding", "internal/mpi/datatype"}},
	{"mpi", []string{"internal/layout", "internal/proto/*", "internal/runtime/process", "internal/runtime/engine", "internal/job/join", "internal/mpi/comm", "internal/runtime/state"}},

	// Groups: the membership for programs without ranks.
	{"internal/groupnode", []string{"internal/proto", "internal/proto/*", "internal/topology", "internal/runtime/wire", "internal/runtime/wire/views"}},
	{"group", []string{"internal/groupnode", "internal/proto/*"}},

	// The launcher knows nothing of the programs it starts.
	{"internal/job/launcher/output", nil},
	{"internal/job/launcher", []string{"internal/layout", "internal/job/launcher/output", "internal/job/control", "internal/job/recovery", "internal/job/pmi", "internal/fault", "internal/proto", "internal/proto/*", "internal/trace"}}, // of replica, the layout

	{"internal/job/mpiexec", nil},  // command lines
	{"internal/job/compiler", nil}, // what mpicc calls

	{"bench", []string{"mpi"}},
	{"bench/processes", nil},
	{"bench/membership", []string{"bench/processes", "internal/groupnode", "internal/proto", "internal/proto/*", "internal/runtime/wire/views", "internal/study/planning/risk", "internal/study/planning/viewtime", "internal/study/report"}},
	{"bench/peers", nil}, // programs in C
	{"bench/instructions", []string{"bench/peers"}},
	{"bench/replication", []string{"internal/layout", "bench/peers", "bench/instructions", "bench/processes", "mpi", "internal/study/report", "internal/job/launcher", "internal/proto", "internal/proto/*", "internal/trace", "internal/runtime/wire"}}, // where processes are bound, and what frames a job sends
	{"bench/startup", []string{"bench/peers"}},
	{"bench/detection", []string{"bench/processes", "internal/proto/*", "internal/job/join", "internal/runtime/engine", "internal/job/launcher", "internal/job/pmi"}}, // members are whole jobs, and what starts them
	{"cmd/...", []string{"internal/layout", "mpi", "bench", "bench/detection", "bench/peers", "bench/instructions", "bench/replication", "bench/startup", "bench/membership", "internal/job/check", "internal/job/launcher", "internal/job/launcher/output", "internal/job/mpiexec", "internal/job/compiler", "internal/study/planning/risk", "internal/study/detection/probing", "internal/study/detection/qos", "internal/runtime/wire", "internal/study/driver/logp", "internal/study/campaign", "internal/study/detection/stabilisation", "internal/study/planning/viewtime", "internal/study/planning/resilience", "internal/study/driver/viewsim", "internal/fault",
		"internal/trace", "internal/trace/*", "internal/proto", "internal/proto/*", "internal/topology", "internal/study/report", "internal/study/reproduce/correctedtrees", "internal/study/reproduce/failuredetector", "internal/study/reproduce/membership"}},
	{"examples/cg/matrixmarket", nil},
	{"examples/internal/jobtest", []string{"mpi", "internal/job/launcher", "internal/fault"}}, // for tests
	{"examples/...", []string{"mpi", "group", "examples/cg/matrixmarket"}},
	{"internal/testing/explore", nil},                          // the driver for tests
	{"internal/testing/hosts", nil},                            // hosts for tests
	{"internal/job/pmi/pmitest", []string{"internal/job/pmi"}}, // a launcher for tests
	{"internal/testing/house", nil},
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
	{"go.yaml.in/yaml/v3", []string{"internal/study/campaign"}},
	{"github.com/parquet-go/parquet-go", []string{"internal/study/campaign"}},
	{"github.com/spf13/pflag", []string{"cmd/..."}},
	{"github.com/hashicorp/memberlist", []string{"bench/detection"}}, // the peer
	{"gonum.org/v1/plot", []string{"internal/study/report"}},
	{"gonum.org/v1/gonum", []string{"bench/detection", "bench/replication", "internal/study/reproduce/*"}},
	{"golang.org/x/sys", []string{"internal/runtime/transport/...", "internal/job/check", "internal/testing/hosts", "internal/study/driver/logp", "internal/runtime/engine", "internal/job/join", "internal/job/launcher/...", "bench/detection", "bench/processes", "bench/instructions", "bench/replication", "cmd/..."}},
}

// pure are the packages that must be state machines or arithmetic: no input or
// output, clock, goroutine, channel, lock, global randomness, nor anything that
// depends on the order of a map.
var pure = []string{"internal/layout", "internal/proto", "internal/proto/*", "internal/topology", "internal/layout", "internal/runtime/process", "internal/runtime/state", "internal/varint", "internal/study/planning/risk", "internal/study/planning/viewtime", "internal/study/planning/resilience", "internal/mpi/softfloat"}

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
