package main

import (
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"banyan/internal/proto"
	"banyan/internal/trace/timeline"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"banyan":   func() { os.Exit(execute()) },
		"mpiexec":  func() { os.Exit(execute()) },
		"mpicc":    func() { os.Exit(execute()) },
		"ring":     ring,
		"stuck":    stuck,
		"healer":   healer,
		"survivor": survivor,
		"skewed":   skewed,
		"checked":  checked,
		"relayed":  relayed,
	})
}

// TestScripts runs the command as a user would: each testdata/*.txtar is a
// session.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata", Cmds: map[string]func(*testscript.TestScript, bool, []string){
		"tracehas": traceHas,
	}})
}

// traceHas is the scripts' "tracehas FILE KIND…": the trace of a real run has messages of these
// kinds, with a sender and, unless that is dead, a receiver; none is received that wasn't sent,
// nor before it was.
func traceHas(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: tracehas FILE KIND…")
	}
	line, err := timeline.Read(strings.NewReader(ts.ReadFile(args[0])), timeline.Part{})
	ts.Check(err)
	ended := map[string]int{}
	for _, m := range line.Messages {
		switch {
		case m.Sent == proto.Never:
			ts.Fatalf("%s from %d to %d: received at %d, never sent", m.Kind, m.From, m.To, m.Ended)
		case m.Ended != proto.Never && m.Ended < m.Sent:
			ts.Fatalf("%s from %d to %d: sent at %d, received at %d", m.Kind, m.From, m.To, m.Sent, m.Ended)
		case m.Ended != proto.Never:
			ended[m.Kind]++
		}
	}
	for _, kind := range args[1:] {
		if ended[kind] == 0 {
			ts.Fatalf("no %s among %v", kind, ended)
		}
	}
}
