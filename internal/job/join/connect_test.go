package join

import (
	"errors"
	"log/slog"
	"net"
	"testing"
	"time"

	"banyan/internal/job/port"
	"banyan/internal/layout"
	"banyan/internal/runtime/connection"
	"banyan/internal/runtime/transport/mesh"
)

// single is a group of one process.
type single struct{}

func (single) Rank() int                            { return 0 }
func (single) Size() int                            { return 1 }
func (single) Leads() bool                          { return true }
func (single) Spread(own []byte) ([]byte, error)    { return own, nil }
func (single) Collect(own []byte) ([][]byte, error) { return [][]byte{own}, nil }

// A process forgets the connections that it has left: a server may have many.
func TestLeftConnectionsAreForgotten(t *testing.T) {
	job := func() *Job {
		j := &Job{log: slog.New(slog.DiscardHandler)}
		j.layout, j.media, j.period, j.timeout = layout.Uniform(1, 1), mesh.Sockets, 100*time.Millisecond, time.Second
		return j
	}
	server, client := job(), job()
	for range 3 {
		a, b := net.Pipe()
		made := make(chan *connection.Connection, 1)
		wrong := make(chan error, 1)
		go func() {
			c, err := client.Connect(single{}, false, func() (connection.Line, error) { return port.NewLine(b), nil })
			made <- c
			wrong <- err
		}()
		c, err := server.Connect(single{}, true, func() (connection.Line, error) { return port.NewLine(a), nil })
		other := <-made
		if err := errors.Join(err, <-wrong); err != nil {
			t.Fatal(err)
		}
		if n := len(server.dynamic.all); n != 1 {
			t.Errorf("the server knows of %d connections, and is in one", n)
		}
		left := make(chan error, 1)
		go func() { left <- other.Finish() }()
		if err := errors.Join(c.Finish(), <-left); err != nil {
			t.Error(err)
		}
	}
}
