package join

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"banyan/internal/job/control"
	"banyan/internal/runtime/connection"
)

// Who asks a launcher to start processes gets an answer, whatever the launcher says, or an error
// when it says nothing.
func TestAskLauncher(t *testing.T) {
	for _, x := range []struct {
		name  string
		says  []control.Message
		limit time.Duration
		want  string
	}{
		{"started", []control.Message{{Type: control.Spawned}}, time.Minute, ""},
		{"started and over", []control.Message{{Type: control.Spawned}, {Type: control.SpawnEnded, Text: "over"}}, time.Minute, ""},
		{"refused", []control.Message{{Type: control.Spawned, Code: 1, Text: "no such program"}}, time.Minute, "program 1: no such program"},
		{"never started", []control.Message{{Type: control.SpawnEnded, Text: "the job was stopped"}}, time.Minute, "no process has been started: the job was stopped"},
		{"silent", nil, 50 * time.Millisecond, "hasn't started the processes within 50ms"},
	} {
		t.Run(x.name, func(t *testing.T) {
			ours, theirs := net.Pipe()
			defer ours.Close()
			defer theirs.Close()
			j := &Job{}
			go func() {
				m, err := control.NewConn(theirs).Receive()
				if err != nil {
					return
				}
				for _, say := range x.says {
					say.Number = m.Number
					j.dynamic.heard(say)
				}
			}()
			s := &spawning{answer: make(chan control.Message, 1), ended: make(chan struct{})}
			done := make(chan error, 1)
			go func() {
				_, err := j.askLauncher(newLaunched(j, control.NewConn(ours)), &control.SpawnOrder{Port: "p"}, s, x.limit)
				done <- err
			}()
			select {
			case err := <-done:
				if f := (*connection.Failure)(nil); x.want == "" && err != nil || x.want != "" && (!errors.As(err, &f) || f.Kind != connection.NoSpawn || !strings.Contains(f.Text, x.want)) {
					t.Errorf("%v, want %q", err, x.want)
				}
			case <-time.After(10 * time.Second):
				t.Fatal("it still waits")
			}
			j.dynamic.mu.Lock()
			defer j.dynamic.mu.Unlock()
			if n := len(j.dynamic.spawning); x.want != "" && n != 0 {
				t.Errorf("%d are noted", n)
			}
		})
	}
}
