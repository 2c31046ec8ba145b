package idle

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// The test binary is also the process that has a group.
const asRole = "idle-role"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == asRole {
		if err := Perform(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func again(t *testing.T) []string {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{program, asRole}
}

// Both systems are founded, idle, and measured; a death in a group becomes known to all.
func TestMeasured(t *testing.T) {
	p := Plan{N: []int{4}, Systems: []System{Banyan}, Span: 300 * time.Millisecond, Deaths: 1, Again: again(t)}
	rows, err := p.Run(t.Context(), func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	p.Systems, p.Deaths = []System{Memberlist}, 0 // it takes seconds to be sure of a death
	more, err := p.Run(t.Context(), func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range append(rows, more...) {
		if r.N != 4 || r.Goroutines < 4 || r.Descriptors < 4 || r.Processor <= 0 || r.Processor > 3 || r.Resident < 1<<20 || r.Founded <= 0 || (r.System == Banyan) != (len(r.Known) == 1) {
			t.Errorf("%+v", r)
		}
		if r.System == Banyan && (r.Packets < 4 || r.Bytes < 64*r.Packets || r.Known[0] <= 0) { // heartbeats
			t.Errorf("%+v", r)
		}
	}
}

// A bench that is interrupted ends at once.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	p := Plan{N: []int{3}, Systems: Systems, Span: time.Minute, Again: again(t)}
	began := time.Now()
	if rows, err := p.Run(ctx, func(int) {}); err == nil || len(rows) > 0 || time.Since(began) > 20*time.Second {
		t.Errorf("%v, %v after %v", rows, err, time.Since(began))
	}
}

// A process that ends without a result is an error with its words.
func TestFailing(t *testing.T) {
	p := Plan{N: []int{3}, Systems: Systems[:1], Span: time.Second, Again: []string{"/bin/sh", "-c", "echo no such luck >&2; exit 3"}}
	if _, err := p.Run(t.Context(), func(int) {}); err == nil || !strings.Contains(err.Error(), "no such luck") {
		t.Error(err)
	}
}

func TestCheck(t *testing.T) {
	good := Plan{N: []int{8}, Systems: Systems, Span: time.Second, Deaths: 3}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for _, x := range []struct {
		spoil func(*Plan)
		says  string
	}{
		{func(p *Plan) { p.N = nil }, "at least one"},
		{func(p *Plan) { p.N = []int{1} }, "-n 1"},
		{func(p *Plan) { p.Deaths = 7 }, "-n 8"},
		{func(p *Plan) { p.Deaths = -1 }, "--runs -1"},
		{func(p *Plan) { p.Span = 0 }, "--idle 0s"},
		{func(p *Plan) { p.Systems = []System{"etcd"} }, "etcd"},
	} {
		p := good
		if x.spoil(&p); p.Check() == nil || !strings.Contains(p.Check().Error(), x.says) {
			t.Errorf("want %s: %v", x.says, p.Check())
		}
	}
}
