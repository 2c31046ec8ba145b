package binding

import (
	"runtime"
	"sync"
	"sync/atomic"

	"banyan/internal/mpi/tool"
	"banyan/internal/proto"
	"banyan/internal/runtime/engine"
)

// Job is this process's part in a job. Package job/join provides it; tests have their own.
type Job interface {
	Engine() *engine.Engine
	// Leave waits until all processes are ready to leave, and leaves.
	Leave() error
	// Abort ends the whole job. It doesn't return.
	Abort(code int, why string)
	// AbortRanks ends some ranks of the world, if the program handles the loss of ranks, and else
	// the whole job. It doesn't return if this rank is one of them.
	AbortRanks(ranks []proto.Rank, code int, why string)
	// Tolerant tells whether the program may handle the loss of ranks.
	Tolerant() bool
	// InitialErrhandler is the predefined error handler with which MPI_COMM_WORLD and
	// MPI_COMM_SELF start.
	InitialErrhandler() Errhandler
	// ErrhandlerName is what the job's user has named it; "" if nobody has.
	ErrhandlerName() string
	// Survive says that the program goes on when a rank is lost.
	Survive()
	// AwaitEnd waits until the job ends because of a lost rank, which the error names, or goes on
	// without it. The launcher knows the cause better than this process.
	AwaitEnd(err error)
	// Hosts numbers the host of each process, nil if they are unknown.
	Hosts() []int32
	// Program is the number of this program among the job's, from 0, or -1 if it isn't known.
	Program() int
	// Universe is for how many processes the job's hosts were named or allocated; 0: that isn't
	// known.
	Universe() int
	Connector
}

// Host is the surroundings of a Process: the C side of the library, or a test.
type Host struct {
	// Join makes this process part of the job. heard gets each event that concerns the process as a
	// whole, and doesn't wait.
	Join func(heard func(engine.Event)) (Job, error)
	// Flush writes out the program's own buffers. It is nil if there are none.
	Flush func()
	// Exit ends this process when there is no job to abort.
	Exit func(code int, why string)
	// ThreadsLed, if set, is told that threads of the program are led, each by its name.
	ThreadsLed func()
	// AtExit, if set, is told of a process that has used sessions whether it leaves the job if it
	// exits now, by Exits.
	AtExit func(leaves bool)
	// Locate is a C function of the type of an error handler. It calls LastWords with the line of
	// the program. 0 if there is none.
	Locate uintptr
	// Controls are the job's settings, for tools.
	Controls []tool.Control
	Callbacks
}

// States of a Process, in the order of time.
const (
	fresh int32 = iota
	initialising
	running
	finalising
	finalised
)

// Process is the C library's state in one process, which is a rank of the job or a replica of
// one. All functions of the interface are its methods.
type Process struct {
	host   Host
	job    Job
	state  atomic.Int32
	thread int   // id of the thread that initialised
	level  int32 // of thread support

	began, ended atomic.Bool // MPI_Init was called; MPI_Finalize has returned
	joining      sync.Mutex  // of the first session, or MPI_Init

	world, self atomic.Pointer[communicator] // nil unless running
	parent      atomic.Pointer[communicator] // with those that have spawned this job; nil: nobody has
	strangers   strangers

	comms       table[communicator]
	groups      table[group]
	datatypes   datatypes
	plain       plain
	ops         table[operation]
	requests    requests
	grequests   grequests
	messages    table[message]
	sendBuffer  sendBuffer // for buffered sends
	infos       table[info]
	errhandlers table[errhandler]
	wins        table[window]
	files       table[openFile]
	usedFiles   atomic.Bool
	sessions    sessions
	fileless    communicator        // MPI_FILE_NULL, for its error handler
	datareps    map[string]*datarep // that the program has registered; guarded by mu
	raised      raisedErrors
	lastWords   atomic.Pointer[lastWords]
	codes       addedCodes
	keyvals     keyvals
	survives    atomic.Bool
	values      *predefined    // of attributes
	spareCounts []int32        // 0, 1, 2…: the values of MPIX_SPARES
	pins        runtime.Pinner // pins memory whose addresses C has
	environment *info          // MPI_INFO_ENV, once asked for; guarded by mu
	memory      memory
	fortran     fortran

	tool  *tool.Interface
	heard heard

	firstHandles [][]uintptr // at the first safe point

	mu sync.Mutex
}

// New makes the process before its initialisation.
func New(host Host) *Process {
	p := &Process{host: host}
	p.codes.last = int32(ErrLastcode)
	p.tool = tool.New(host.Controls, p.toolSample, p.toolFixed)
	p.comms.kind, p.groups.kind = kindComm, kindGroup
	p.infos.kind, p.errhandlers.kind = kindInfo, kindErrhandler
	p.datatypes.init()
	p.plain = p.plainTypes()
	p.requests.init()
	p.messages.kind = kindMessage
	p.ops.kind = kindOp
	p.wins.kind = kindWin
	p.files.kind, p.sessions.kind = kindFile, kindSession
	return p
}
