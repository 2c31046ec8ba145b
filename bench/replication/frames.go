package replication

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"banyan/internal/proto"
	"banyan/internal/runtime/wire"
	"banyan/internal/trace"
)

// Frames are those of one run.
type Frames struct {
	Name    string
	Ranks   int
	Partial bool // only rank 0 has replicas
	// Data are the first frames of messages, Acknowledgements those that carry nothing else.
	Data, Acknowledgements int
	// Shareable are the acknowledgements from a process to one to which it also sends messages,
	// or data of messages: piggybacking could save at most these.
	Shareable int
}

// framesTurns is how often the ping-pong's message goes to and fro.
const framesTurns = 2000

// Frames counts the frames of a ping-pong of 8 bytes and of applications, with the parallel
// protocol: with the same number of replicas for every rank, and with replicas of rank 0 only.
// Every frame is recorded (banyan run --trace), which slows a job down.
func (b *Bench) Frames(ctx context.Context, applications []Application) ([]Frames, error) {
	var rows []Frames
	for i := range 2 * (1 + len(applications)) {
		row := Frames{Name: "ping-pong", Ranks: 2, Partial: i%2 == 1}
		var application *Application
		if i >= 2 {
			application = &applications[i/2-1]
			row.Name, row.Ranks = application.Name, b.ranks(application)
		}
		var flags []string
		if row.Partial {
			flags = append(flags, "--replicate", "0")
		}
		if err := b.frames(ctx, Parallel, &row, flags, application); err != nil {
			return nil, err
		}
		rows = append(rows, row)
		b.progress()
	}
	return rows, nil
}

// Traffic counts the frames of the ping-pong in each setting: what the protocols send.
func (b *Bench) Traffic(ctx context.Context, of []Setting) error {
	for _, s := range of {
		if _, err := b.together(PartTraffic, fmt.Sprintf("traffic, %v", s), 1, func() ([]Sample, error) {
			row := Frames{Name: "ping-pong", Ranks: 2}
			if err := b.frames(ctx, s, &row, nil, nil); err != nil {
				return nil, err
			}
			b.progress()
			return []Sample{{Part: PartTraffic, Name: row.Name, Bytes: 8, Ranks: 2, Replicas: b.Replicas, Setting: s, Messages: row.Data, Acknowledgements: row.Acknowledgements}}, nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// frames counts those of an application, or of the ping-pong if that is nil, in a setting of one
// job.
func (b *Bench) frames(ctx context.Context, s Setting, row *Frames, flags []string, a *Application) error {
	dir, err := os.MkdirTemp(b.Dir, "frames-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "trace")
	flags = append(flags, "--trace", file)
	if a == nil {
		_, err = b.timed(ctx, s, row.Ranks, flags, append(b.Role[:len(b.Role):len(b.Role)], rolePingPong), 8, framesTurns)
	} else {
		var r *running
		if r, err = start(ctx, b.jobs(s, row.Ranks, flags, a.Command...)); err == nil {
			err = r.wait()
		}
	}
	if err != nil {
		return fmt.Errorf("frames of %s, %v: %w", row.Name, s, err)
	}
	return row.count(file)
}

// count adds the frames of a trace.
func (f *Frames) count(file string) (err error) {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	type link struct{ from, to proto.Proc }
	sends, acknowledges := make(map[link]bool), make(map[link]int)
	if _, err = trace.Read(in, func(e trace.Event) error {
		if e.Event != trace.Send {
			return nil
		}
		l := link{e.Proc, e.Peer}
		switch e.Kind {
		case wire.KindEager.String(), wire.KindOffer.String():
			f.Data++
			sends[l] = true
		case wire.KindData.String():
			sends[l] = true
		case wire.KindAck.String():
			f.Acknowledgements++
			acknowledges[l]++
		}
		return nil
	}); err != nil {
		return fmt.Errorf("the trace of %s: %w", f.Name, err)
	}
	if f.Data == 0 {
		return errors.New("the trace of " + f.Name + " has no messages")
	}
	for l, n := range acknowledges {
		if sends[l] {
			f.Shareable += n
		}
	}
	return nil
}
