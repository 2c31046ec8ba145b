package remote

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"banyan/internal/job/agent"
	"banyan/internal/job/agent/wire"
	"banyan/internal/proto"
)

var _ agent.Tracing = (*Remote)(nil)

const (
	// maxPacked bounds a recording as it is sent, in bytes: it is one message.
	maxPacked = 32 << 20
	// maxRecording bounds it unpacked.
	maxRecording = 1 << 30
	// maxSpan bounds how long an agent waits for the end of a span.
	maxSpan = time.Minute
)

// Trace implements agent.Tracing.
func (r *Remote) Trace(ctx context.Context, s agent.Span) (agent.Recording, error) {
	s.Begin = int64(r.there(proto.Time(s.Begin + bootAhead())))
	words, err := json.Marshal(s)
	if err != nil {
		return agent.Recording{}, err
	}
	m, err := r.awaitWithin(ctx, wire.Message{Type: wire.Record, Words: words})
	switch {
	case err != nil:
		return agent.Recording{}, err
	case m.Text != "":
		return agent.Recording{}, errors.New(m.Text)
	}
	text, err := unpack(m.Words)
	return agent.Recording{Trace: text, Processes: int(m.Count), Full: m.Slot}, err
}

// recordSpan has the processes record, and answers.
func (s *server) recordSpan(m wire.Message) {
	answer := wire.Message{Type: wire.Recorded, Ask: m.Ask}
	defer func() { s.say(answer) }()
	var span agent.Span
	local, can := s.local.(agent.Tracing)
	if err := json.Unmarshal(m.Words, &span); err != nil || !can {
		answer.Text = "this agent's processes can't record"
		return
	}
	span.Begin -= bootAhead()
	ctx, stop := context.WithTimeout(context.Background(), maxSpan)
	defer stop()
	r, err := local.Trace(ctx, span)
	if err == nil {
		answer.Words, err = pack(r.Trace)
	}
	if err != nil {
		answer.Text = err.Error()
		return
	}
	answer.Count, answer.Slot = int64(r.Processes), r.Full
}

// pack makes a recording short; nil stays nil.
func pack(text []byte) ([]byte, error) {
	if len(text) == 0 {
		return nil, nil
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(text) // into memory
	z.Close()
	if b.Len() > maxPacked {
		return nil, fmt.Errorf("its processes have recorded %d MB, which is too much for one message", b.Len()>>20)
	}
	return b.Bytes(), nil
}

// unpack undoes pack.
func unpack(b []byte) ([]byte, error) {
	if len(b) == 0 {
		return nil, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(z, maxRecording+1))
	if err == nil && len(text) > maxRecording {
		err = errors.New("it is too long")
	}
	return text, err
}
