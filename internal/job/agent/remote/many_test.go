package remote

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"banyan/internal/job/agent"
	"banyan/internal/job/control"
	"banyan/internal/proto"
)

// Many processes start at once, with a large environment in common, and all speak at the same
// time.
func TestManyProcesses(t *testing.T) {
	const n = 400
	r := newRig(t, Options{})
	common := []string{"BIG=" + strings.Repeat("x", 20<<10)}
	var specs []agent.Spec
	for i := range n {
		specs = append(specs, agent.Spec{Proc: proto.Proc(i), Env: append(common[:1:1], fmt.Sprint("RANK=", i)), Input: agent.SomeInput})
	}
	procs := r.start(specs...)
	r.proxy.cut(true) // all their streams go on over the next connection
	var all sync.WaitGroup
	for i, p := range procs {
		all.Go(func() {
			heard := make(chan int, 1)
			go p.Listen(func(m control.Message) { heard <- m.Pid })
			p.Say(control.Message{Type: control.Explain})
			text := fmt.Sprintf("this is process %d\n", i)
			io.WriteString(p.Stdin(), text)
			b := make([]byte, len(text))
			if _, err := io.ReadFull(p.Stdout(), b); err != nil || string(b) != text || <-heard != 100+i {
				t.Errorf("process %d: %q, %v", i, b, err)
			}
			p.Signal(9)
			if end, err := p.Wait(); err != nil || end.Status.Signal() != 9 {
				t.Errorf("process %d: %v, %v", i, end, err)
			}
		})
	}
	all.Wait()
	if got := r.fake.process(key{n - 1, 0}).spec.Env; len(got) != 2 || got[0] != common[0] || got[1] != fmt.Sprint("RANK=", n-1) {
		t.Errorf("%.100q", got)
	}
}
