package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"slices"
	"time"

	"banyan/internal/job/status"
)

// Record writes all events to w as JSON lines: a slog handler's, with the event's fields. The
// channel is closed when the last is written.
func (h *Hub) Record(w io.Writer) (done <-chan struct{}) {
	log := slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.MessageKey {
			a.Key = "text"
		}
		return a
	}}))
	return h.sink(func(events []status.Event) {
		for i := range events {
			log.LogAttrs(context.Background(), level(&events[i]), events[i].Text, attributes(h.name, &events[i])...)
		}
	})
}

// level is how bad an event is.
func level(e *status.Event) slog.Level {
	switch e.Kind {
	case status.KindRankLost:
		return slog.LevelError
	case status.KindDeath, status.KindHostLost, status.KindNotHeal, status.KindWarning, status.KindRollback:
		return slog.LevelWarn
	}
	return slog.LevelInfo
}

// attributes are the fields of an event.
func attributes(job string, e *status.Event) []slog.Attr {
	all := []slog.Attr{slog.String("job", job), slog.Uint64("number", e.Number), slog.Float64("at_s", e.At), slog.String("kind", e.Kind)}
	for _, x := range []struct {
		name  string
		value *int
	}{{"process", e.Process}, {"rank", e.Rank}, {"replica", e.Replica}, {"host", e.Host}} {
		if x.value != nil {
			all = append(all, slog.Int(x.name, *x.value))
		}
	}
	if e.Cause != "" {
		all = append(all, slog.String("cause", e.Cause))
	}
	if e.Took > 0 {
		all = append(all, slog.Float64("took_s", e.Took))
	}
	if e.File != "" {
		all = append(all, slog.String("file", e.File))
	}
	if e.View > 0 {
		all = append(all, slog.Uint64("view", e.View), slog.Int("members", e.Members))
	}
	if len(e.Set) > 0 {
		all = append(all, slog.Any("set", e.Set))
	}
	return all
}

// called are the kinds of events that a command is called for.
var called = []string{
	status.KindDeath, status.KindHostLost, status.KindHealed, status.KindNotHeal, status.KindRankLost, status.KindRollback, status.KindEnd,
}

const (
	// commandLimit bounds how long a command may take.
	commandLimit = 30 * time.Second
	// commandOutput bounds how much of its output is told if it fails.
	commandOutput = 4096
)

// Call has a command called by sh for deaths, heals and the job's end: the events are its input, a
// JSON line each. Events that come together, as those of a lost host, are one call; one call
// follows the other. tell is told if one fails. The channel is closed when the last has ended.
func (h *Hub) Call(command string, tell func(text string)) (done <-chan struct{}) {
	return h.sink(func(events []status.Event) {
		events = slices.DeleteFunc(slices.Clone(events), func(e status.Event) bool { return !slices.Contains(called, e.Kind) })
		if len(events) == 0 {
			return
		}
		if err := call(command, h.name, events); err != nil {
			tell(fmt.Sprintf("--on-event: %v", err))
		}
	})
}

// call calls a command with events.
func call(command, job string, events []status.Event) error {
	var input []byte
	for _, e := range events {
		e.Set = nil
		line, err := json.Marshal(struct {
			Job string `json:"job"`
			status.Event
		}{job, e})
		if err != nil {
			return err
		}
		input = append(append(input, line...), '\n')
	}
	ctx, cancel := context.WithTimeout(context.Background(), commandLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", command)
	cmd.Stdin = bytes.NewReader(input)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("it takes longer than %v, and was killed", commandLimit)
		}
		return fmt.Errorf("%s: %w: %.*s", command, err, commandOutput, out)
	}
	return nil
}
