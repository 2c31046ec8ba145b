package remote

import (
	"io"
	"testing"

	"banyan/internal/job/agent"
	"banyan/internal/job/control"
)

// BenchmarkOutput is how fast a process's output comes from its agent to the launcher, over TLS on
// this host.
func BenchmarkOutput(b *testing.B) {
	r := newRig(b, Options{})
	p := r.start(agent.Spec{Proc: 0})[0]
	there := r.fake.process(key{0, 0})
	chunk := make([]byte, 32<<10)
	b.SetBytes(int64(len(chunk)))
	b.ResetTimer()
	go func() {
		for range b.N {
			there.stdout.Write(chunk)
		}
		there.stdout.end()
	}()
	if n, err := io.Copy(io.Discard, struct{ io.Reader }{p.Stdout()}); err != nil || n != int64(b.N*len(chunk)) {
		b.Fatal(n, err)
	}
}

// BenchmarkLifeline is how long a message to a process and its answer take.
func BenchmarkLifeline(b *testing.B) {
	r := newRig(b, Options{})
	p := r.start(agent.Spec{Proc: 0})[0]
	heard := make(chan control.Message)
	go p.Listen(func(m control.Message) { heard <- m })
	b.ResetTimer()
	for range b.N {
		p.Say(control.Message{Type: control.Explain})
		<-heard
	}
}
