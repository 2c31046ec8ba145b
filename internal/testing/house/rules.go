// Package house holds the rules of the house that no ready-made tool checks, and
// the test that enforces them on every Go file of the module:
//
//   - a folder says what its packages may import (wings), and other modules are
//     imported only where they belong (dependencies);
//   - protocol packages are pure (pure), so that the same code runs in real processes,
//     in simulators and in tests;
//   - the environment's variables are named in one package (variables);
//   - every file is formatted, none is a god file, every package says its job;
//   - the names of environment variables stand in one package (variables);
//   - retired words aren't used, no sentence has "who" as its subject, and lines of
//     comments end before column 100 (words.go);
//   - what a document names exists, and its links resolve (documents.go).
//
// The rules are the tables of this file. Each has a snippet in house_test.go that
// breaks it, so that a rule which has stopped biting is noticed. Test files are
// exempt from the rules about imports and purity.
package house

// moduleName is the module whose files are checked; paths in the tables are
// relative to it.
const moduleName = "banyan"

// A wing is a part of the module: the packages that match one of its patterns. A
// package may import the packages of its own wing and those of the wings that the
// wing names. The first wing that matches a package counts. In a pattern, "*"
// stands for one path element and a final "..." for the rest, also if that is empty.
type wing struct {
	name     string
	packages []string
	imports  []string // names of wings
}

// wings goes from the ground up: a wing names only wings above it in the table, which
// TestWingsGoDown checks. Inside a wing, Go's own rule against cycles keeps the order.
var wings = []wing{
	// Words and arithmetic that all others share.
	{"ground", []string{"internal/proto", "internal/topology", "internal/layout", "internal/varint", "internal/splitmix", "internal/queue", "internal/channel", "internal/counters", "internal/prefetch"}, nil},
	{"machines", []string{"internal/proto/*"}, []string{"ground"}},
	// The languages of fault plans and of traces, real and simulated.
	{"plans", []string{"internal/fault", "internal/trace/..."}, []string{"ground"}},
	// One process of a job.
	{"runtime", []string{"internal/runtime/..."}, []string{"ground", "machines"}},
	// What MPI's functions mean.
	{"mpi", []string{"internal/mpi/..."}, []string{"ground", "runtime"}},
	// Starting a job and keeping it alive.
	{"job", []string{"internal/job/..."}, []string{"ground", "machines", "plans", "runtime"}},
	// Membership for programs without ranks.
	{"group node", []string{"internal/groupnode/..."}, []string{"ground", "machines", "runtime"}},
	// Whole jobs in one simulated world: what runs in processes and what keeps them alive.
	{"one world", []string{"internal/study/oneworld"}, []string{"ground", "machines", "runtime", "job"}},
	// Simulators, planning and experiments.
	{"study", []string{"internal/study/..."}, []string{"ground", "machines", "plans"}},
	// What only tests use.
	{"testing", []string{"internal/testing/..."}, []string{"ground"}},

	// The public faces.
	{"interface table", []string{"abi/...", "fortran/..."}, nil},
	{"Go API", []string{"mpi"}, []string{"ground", "machines", "runtime", "mpi", "job"}},
	{"C library", []string{"capi/..."}, []string{"runtime", "mpi", "job"}},
	{"group", []string{"group/..."}, []string{"machines", "group node"}},
	{"test jobs", []string{"examples/internal/jobtest"}, []string{"Go API", "job", "plans"}},
	{"examples", []string{"examples/..."}, []string{"Go API", "group"}},
	{"bench", []string{"bench/..."}, []string{"ground", "machines", "plans", "runtime", "job", "group node", "study", "Go API"}},
	// What starts jobs on other people's engines: files for them, and tests of the files.
	{"deployment", []string{"deploy/..."}, nil},
	{"command", []string{"cmd/..."}, []string{"ground", "machines", "plans", "runtime", "job", "one world", "study", "Go API", "bench"}},
}

// A ban narrows what a wing allows.
type ban struct {
	packages, imports []string
	reason            string
}

var bans = []ban{
	{[]string{"internal/proto/*"}, []string{"internal/proto/*"},
		"protocols never know each other: runtime/process connects them"},
	{[]string{"internal/runtime/handshake", "internal/runtime/transport/...", "internal/runtime/wire", "internal/runtime/state"}, []string{"internal/proto/*"},
		"what carries bytes knows no protocol"},
	{[]string{"internal/mpi/datatype", "internal/mpi/reduce", "internal/mpi/softfloat", "internal/mpi/cart"}, []string{"internal/runtime/..."},
		"data and arithmetic need no process"},
	{[]string{"internal/groupnode/..."}, []string{"internal/runtime/process", "internal/runtime/engine", "internal/runtime/transport/..."},
		"a group has no job"},
	{[]string{"internal/job/launcher/...", "internal/job/agent", "internal/job/recovery", "internal/job/pmi/..."}, []string{"internal/job/join", "internal/job/check", "internal/runtime/..."},
		"the launcher knows nothing of what runs inside the programs that it starts"},
	{[]string{"internal/study/protocol/*"}, []string{"internal/study/driver/...", "internal/study/campaign/...", "internal/study/detection/..."},
		"a machine doesn't know its driver"},
	{[]string{"cmd/..."}, []string{"internal/runtime/process", "internal/runtime/engine", "internal/runtime/transport/..."},
		"a command is wiring and words"},
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
	{"github.com/prometheus/client_golang", []string{"internal/job/status/metrics"}},
	{"go.yaml.in/yaml/v3", []string{"internal/study/campaign"}},
	{"github.com/parquet-go/parquet-go", []string{"internal/study/campaign"}},
	{"github.com/spf13/pflag", []string{"cmd/..."}},
	{"github.com/klauspost/compress", []string{"bench/snapshots"}},
	{"github.com/hashicorp/memberlist", []string{"bench/detection", "bench/idle"}}, // the peer
	{"github.com/ianlancetaylor/demangle", []string{"internal/job/trial"}},
	{"golang.org/x/tools", []string{"internal/testing/lint"}},
	{"honnef.co/go/tools", []string{"internal/testing/lint"}},
	{"gonum.org/v1/plot", []string{"internal/study/report"}},
	{"gonum.org/v1/gonum", []string{"bench/detection", "internal/study/reproduce/*"}},
	{"golang.org/x/sys", []string{"internal/runtime/...", "internal/mpi/file", "internal/job/...", "internal/testing/hosts", "internal/study/driver/logp", "internal/groupnode/store", "bench/...", "cmd/..."}},
}

// pure are the packages that must be state machines or arithmetic: no input or
// output, clock, goroutine, channel, lock, global randomness, nor anything that
// depends on the order of a map.
var pure = []string{
	"internal/proto", "internal/topology", "internal/layout", "internal/varint", "internal/splitmix", "internal/queue", "internal/channel", "internal/proto/*",
	"internal/runtime/process", "internal/runtime/state", "internal/mpi/softfloat", "internal/job/placement",
	"internal/job/agent/lease", "internal/job/starter/tree", "internal/job/status", "internal/job/doctor", "internal/study/oneworld", "internal/study/protocol/*", "internal/study/planning/*", "internal/study/ratio",
}

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

// variables is the package with the names of environment variables BANYAN_*: others use its
// constants.
const variables = "internal/job/env"

// testVariables are the variables, or beginnings of their names, that only tests read.
var testVariables = []string{"BANYAN_TEST_", "BANYAN_EXPLORE", "BANYAN_SEED", "BANYAN_TOUR", "BANYAN_UPDATE"}

// maxLines is how long a Go file may be, but for tests and generated files.
const maxLines = 500

// longFiles are the files that may be longer, with the number of lines they may have.
var longFiles = map[string]int{}
