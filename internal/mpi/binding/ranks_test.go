package binding

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"
	"unsafe"

	"banyan/internal/job/join"
	"banyan/internal/proto"
	"banyan/internal/runtime/connection"
	"banyan/internal/runtime/engine"
)

// ranks runs f as each of n ranks of a job in this process, and waits for all. Each rank begins
// initialised, with MPI_ERRORS_ARE_FATAL. When f returns, the rank is finalised unless f has
// done so. An abort fails the test; tests of errors set MPI_ERRORS_RETURN or call expectAbort.
func ranks(t *testing.T, n int, f func(t *testing.T, p *Process)) {
	t.Helper()
	replicated(t, n, 1, f)
}

// replicated is ranks with several replicas of each.
func replicated(t *testing.T, n, replicas int, f func(t *testing.T, p *Process)) {
	t.Helper()
	members, err := join.Local(join.LocalConfig{Ranks: n, Replicas: replicas})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		var wg sync.WaitGroup
		for i, m := range members {
			wg.Go(func() {
				tm := &testMember{t: t, Member: m}
				p := New(Host{
					Join:      func(func(engine.Event)) (Job, error) { return tm, nil },
					Exit:      func(code int, why string) { tm.Abort(code, why) },
					Callbacks: testCallbacks{},
				})
				left := false
				defer func() {
					if !left { // by t.FailNow or Abort: other ranks may wait for it
						m.Die()
					}
				}()
				if code := p.Init(nil, nil); code != Success {
					t.Errorf("process %d: Init: %d", i, code)
					return
				}
				f(t, p)
				if p.state.Load() == running {
					if code := p.Finalize(); code != Success {
						t.Errorf("process %d: Finalize: %d", i, code)
					}
				}
				left = true
			})
		}
		wg.Wait()
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		buf := make([]byte, 1<<16)
		t.Fatalf("the ranks hang:\n%s", buf[:runtime.Stack(buf, true)])
	}
}

// testMember is a member of a local job as a Job.
type testMember struct {
	*join.Member
	t        *testing.T
	survives bool
	first    Errhandler // 0: MPI_ERRORS_ARE_FATAL
}

func (m *testMember) Engine() *engine.Engine { return m.Member.Engine }
func (m *testMember) Survive()               { m.survives = true }
func (m *testMember) ErrhandlerName() string { return "" }
func (m *testMember) InitialErrhandler() Errhandler {
	if m.first != 0 {
		return m.first
	}
	return ErrorsAreFatal
}
func (m *testMember) AwaitEnd(error) {}
func (m *testMember) Hosts() []int32 { return nil }
func (m *testMember) Program() int   { return 0 }
func (m *testMember) Universe() int  { return 5 }

// expected is the reason why a test's Abort isn't a failure.
var expected sync.Map // *testing.T → func(why string)

// expectAbort lets the test's ranks abort. heard gets the message of each.
func expectAbort(t *testing.T, heard func(code int, why string)) {
	expected.Store(t, heard)
	t.Cleanup(func() { expected.Delete(t) })
}

// Abort ends the rank as an exit would.
func (m *testMember) Abort(code int, why string) {
	if heard, ok := expected.Load(m.t); ok {
		heard.(func(int, string))(code, why)
	} else {
		m.t.Errorf("a rank aborts: %s", why)
	}
	runtime.Goexit()
}

func (m *testMember) AbortRanks(ranks []proto.Rank, code int, why string) {
	m.Abort(code, fmt.Sprintf("%v abort: %s", ranks, why))
}

func (m *testMember) Tolerant() bool { return true }

// testCallbacks calls functions of Go: their "address" is what function gives.
type testCallbacks struct{}

func (testCallbacks) EventHappened(fn, instance, registration uintptr, safety int32, user uintptr) {
	functionAt(fn).(func(instance, registration, user uintptr))(instance, registration, user)
}

func (testCallbacks) EventFreed(fn, registration uintptr, safety int32, user uintptr) {
	functionAt(fn).(func(registration, user uintptr))(registration, user)
}

func (testCallbacks) EventsDropped(fn uintptr, n int64, registration uintptr, source, safety int32) {
	functionAt(fn).(func(n int64))(n)
}

var functions = struct {
	sync.Mutex
	list []any
}{}

// function makes a Go function callable by binding as a user function. Its type is one of those
// that the methods of testCallbacks assert.
func function(f any) uintptr {
	functions.Lock()
	defer functions.Unlock()
	functions.list = append(functions.list, f)
	return uintptr(4096 + len(functions.list) - 1)
}

func functionAt(fn uintptr) any {
	functions.Lock()
	defer functions.Unlock()
	return functions.list[fn-4096]
}

type (
	reduceFunction  func(in, inout unsafe.Pointer, count int64, datatype Datatype)
	copyFunction    func(object uintptr, keyval int32, extra, value uintptr) (uintptr, bool, Code)
	deleteFunction  func(object uintptr, keyval int32, value, extra uintptr) Code
	queryFunction   func(extra uintptr, status *Status) Code
	freeFunction    func(extra uintptr) Code
	cancelFunction  func(extra uintptr, complete bool) Code
	convertFunction func(user unsafe.Pointer, datatype Datatype, count int64, file unsafe.Pointer, position int64, extra uintptr) Code
	extentFunction  func(datatype Datatype, extra uintptr) (int64, Code)
	saveFunction    func(extra uintptr) ([][]byte, Code)
	loadFunction    func(extra uintptr, data []byte) Code
)

func (testCallbacks) Reduce(fn uintptr, wide bool, in, inout unsafe.Pointer, count int64, datatype Datatype) {
	functionAt(fn).(reduceFunction)(in, inout, count, datatype)
}

func (testCallbacks) CopyAttribute(fn, object uintptr, keyval int32, extra, value uintptr) (uintptr, bool, Code) {
	return functionAt(fn).(copyFunction)(object, keyval, extra, value)
}

func (testCallbacks) DeleteAttribute(fn, object uintptr, keyval int32, value, extra uintptr) Code {
	return functionAt(fn).(deleteFunction)(object, keyval, value, extra)
}

func (testCallbacks) QueryRequest(fn, extra uintptr, status *Status) Code {
	return functionAt(fn).(queryFunction)(extra, status)
}

func (testCallbacks) FreeRequest(fn, extra uintptr) Code { return functionAt(fn).(freeFunction)(extra) }

func (testCallbacks) CancelRequest(fn, extra uintptr, complete bool) Code {
	return functionAt(fn).(cancelFunction)(extra, complete)
}

func (testCallbacks) ConvertData(fn uintptr, wide bool, user unsafe.Pointer, datatype Datatype, count int64, file unsafe.Pointer, position int64, extra uintptr) Code {
	return functionAt(fn).(convertFunction)(user, datatype, count, file, position, extra)
}

func (testCallbacks) FileExtent(fn uintptr, datatype Datatype, extra uintptr) (int64, Code) {
	return functionAt(fn).(extentFunction)(datatype, extra)
}

func (testCallbacks) SaveState(fn, extra uintptr) ([][]byte, Code) {
	return functionAt(fn).(saveFunction)(extra)
}

func (testCallbacks) LoadState(fn, extra uintptr, data []byte) Code {
	return functionAt(fn).(loadFunction)(extra, data)
}

// ok fails the test at once if a function didn't succeed.
func ok(t *testing.T, what string, code Code) {
	t.Helper()
	if code != Success {
		t.Errorf("%s: %d (%s)", what, code, classes[code][0])
		runtime.Goexit()
	}
}

// rankOf is the rank in the world.
func rankOf(p *Process) int { return p.world.Load().comm.Rank() }

// Each rank of a test has its own number.
func TestRanks(t *testing.T) {
	var seen sync.Map
	ranks(t, 3, func(t *testing.T, p *Process) {
		var rank, size int32
		ok(t, "CommRank", p.CommRank(CommWorld, &rank))
		ok(t, "CommSize", p.CommSize(CommWorld, &size))
		if _, twice := seen.LoadOrStore(rank, true); twice || size != 3 {
			t.Errorf("rank %d of %d", rank, size)
		}
		ok(t, "CommSize", p.CommSize(CommSelf, &size))
		if size != 1 {
			t.Errorf("MPI_COMM_SELF has %d ranks", size)
		}
	})
}

// The default error handler ends the job, and its message names the error, the communicator and
// the rank.
func TestFatal(t *testing.T) {
	var mu sync.Mutex
	var said []string
	expectAbort(t, func(code int, why string) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, fmt.Sprintf("%d %s", code, why))
	})
	ranks(t, 1, func(t *testing.T, p *Process) {
		var rank int32
		p.CommRank(CommNull, &rank)
		t.Error("an error with MPI_ERRORS_ARE_FATAL returns")
	})
	want := "1 MPI_Comm_rank, rank 0: the communicator is MPI_COMM_NULL (MPI_ERR_COMM)"
	if len(said) != 1 || said[0] != want {
		t.Errorf("said %q, want %q", said, want)
	}
}

// The members of a local job can't have connections: TestDynamic in capi/test has programs that
// can.
var errAlone = &connection.Failure{Kind: connection.BadJob, Text: "this is a test"}

func (m *testMember) AmongJobs() connection.Member { return connection.Member{} }
func (m *testMember) CanConnect() error            { return errAlone }
func (m *testMember) Connect(connection.Group, bool, func() (connection.Line, error)) (*connection.Connection, error) {
	return nil, errAlone
}
func (m *testMember) OpenPort(string) (string, error) { return "", errAlone }
func (m *testMember) ClosePort(string) error          { return errAlone }
func (m *testMember) AcceptAt(string, time.Duration) (connection.Line, error) {
	return nil, errAlone
}
func (m *testMember) CallAt(string, time.Duration) (connection.Line, error) { return nil, errAlone }
func (m *testMember) JoinOver(int) (connection.Line, bool, error)           { return nil, false, errAlone }
func (m *testMember) Publish(string, string) error                          { return errAlone }
func (m *testMember) Withdraw(string) error                                 { return errAlone }
func (m *testMember) Look(string) (string, error)                           { return "", errAlone }
func (m *testMember) Spawn([]connection.Program) (connection.Line, func(), error) {
	return nil, nil, errAlone
}
func (m *testMember) Parent() string { return "" }
