// Package fault is the language of fault plans, the same for real and simulated runs.
//
// # The language
//
// A plan has entries, separated by ";" or line ends. An entry is an action and its settings:
//
//	kill rank=2 replica=1 at=300ms
//	stop rank=0 at=send:1000
//	kill rank=7 at=step:12
//	flip rank=1 replica=0 at=send:100
//	random count=2 within=1s seed=7
//
// kill ends a process as kill -9 does. stop freezes it as kill -STOP does. flip changes a bit
// of the data of a message, as a silent hardware fault might: of the N-th message, or of the
// first one after it that has data. It takes at=send:N only. "replica" is 0 unless given. "at"
// is
//
//   - a duration after the moment when all processes have been started,
//   - send:N, just before the process sends its N-th message (N ≥ 1), or
//   - step:N, a point of simulated time (N ≥ 0); simulated runs only.
//
// random draws "count" processes, and for each a moment up to "within" (in the same three
// forms), and kills or stops each ("action=kill" or "action=stop" allows only one of the two).
// The draw depends only on "seed" (0 unless given), on the numbers of ranks and replicas, and
// on the plan's other entries. It leaves each rank a replica that no entry hits, unless the
// other entries hit them all.
//
// # Use
//
// Parse checks the language. Plan.Resolve checks the numbers against a job's size. The launcher
// carries out faults at a time. A process carries out its own faults at a send, which it gets
// as text (FormatOwn, ParseOwn).
package fault

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Action is what happens to a process, or to what it sends.
type Action uint8

// Actions.
const (
	Kill Action = iota // ends, as by SIGKILL
	Stop               // freezes, as by SIGSTOP
	Flip               // sends a message with a wrong bit
)

func (a Action) String() string {
	switch a {
	case Stop:
		return "stop"
	case Flip:
		return "flip"
	}
	return "kill"
}

// TriggerKind says what a Trigger counts.
type TriggerKind uint8

// Kinds of triggers.
const (
	After  TriggerKind = iota // nanoseconds since all processes were started
	AtSend                    // messages the process sends, from 1
	AtStep                    // steps of simulated time, from 0
)

// Trigger is a moment.
type Trigger struct {
	Kind TriggerKind
	N    int64 // in the unit of Kind
}

// Duration is the moment of a Trigger of kind After.
func (t Trigger) Duration() time.Duration { return time.Duration(t.N) }

func (t Trigger) String() string {
	switch t.Kind {
	case AtSend:
		return fmt.Sprintf("send:%d", t.N)
	case AtStep:
		return fmt.Sprintf("step:%d", t.N)
	}
	return t.Duration().String()
}

// Event is one fault of one process.
type Event struct {
	Action        Action
	Rank, Replica int
	At            Trigger
}

// String is the entry that plans the event.
func (e Event) String() string {
	return fmt.Sprintf("%v rank=%d replica=%d at=%v", e.Action, e.Rank, e.Replica, e.At)
}

// Plan is a parsed plan. The zero Plan plans nothing.
type Plan struct{ entries []entry }

// entry is one event, or a draw of several.
type entry struct {
	event Event // if draw is nil
	draw  *draw
}

func (e entry) String() string {
	if e.draw != nil {
		return e.draw.String()
	}
	return e.event.String()
}

// Parse reads a plan. Its error says which entry is wrong and why.
func Parse(s string) (Plan, error) {
	var p Plan
	for text := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == ';' || r == '\n' }) {
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		e, err := parseEntry(words)
		if err != nil {
			return Plan{}, entryError(len(p.entries), strings.Join(words, " "), err)
		}
		p.entries = append(p.entries, e)
	}
	return p, nil
}

// entryError says which entry of a plan, counted from 0, is wrong.
func entryError(i int, text string, err error) error {
	return fmt.Errorf("fault plan, entry %d (%s): %w", i+1, text, err)
}

func parseEntry(words []string) (entry, error) {
	settings, err := parseSettings(words[1:])
	if err != nil {
		return entry{}, err
	}
	var e entry
	switch words[0] {
	case "kill":
		e.event, err = parseEvent(Kill, settings)
	case "stop":
		e.event, err = parseEvent(Stop, settings)
	case "flip":
		if e.event, err = parseEvent(Flip, settings); err == nil && e.event.At.Kind != AtSend {
			err = errors.New("flip takes at=send:N only")
		}
	case "random":
		e.draw, err = parseDraw(settings)
	default:
		return entry{}, fmt.Errorf("%q is no action; there are kill, stop, flip and random", words[0])
	}
	if err == nil {
		err = settings.leftOver()
	}
	return e, err
}

func parseEvent(a Action, s settings) (Event, error) {
	e := Event{Action: a}
	rank, err := s.number("rank", -1)
	if err != nil {
		return e, err
	}
	if rank < 0 {
		return e, errors.New("rank= is missing")
	}
	replica, err := s.number("replica", 0)
	if err != nil {
		return e, err
	}
	e.Rank, e.Replica = int(rank), int(replica)
	e.At, err = s.trigger("at")
	return e, err
}

// settings are the key=value words of an entry. Reading a setting removes it.
type settings map[string]string

func parseSettings(words []string) (settings, error) {
	s := make(settings)
	for _, word := range words {
		key, value, ok := strings.Cut(word, "=")
		if !ok || key == "" || value == "" {
			return nil, fmt.Errorf("%q is not of the form key=value", word)
		}
		if _, twice := s[key]; twice {
			return nil, fmt.Errorf("%s= is given twice", key)
		}
		s[key] = value
	}
	return s, nil
}

func (s settings) take(key string) (string, bool) {
	value, ok := s[key]
	delete(s, key)
	return value, ok
}

// number takes a non-negative whole number.
func (s settings) number(key string, missing int64) (int64, error) {
	text, ok := s.take(key)
	if !ok {
		return missing, nil
	}
	return parseCount(key, text, 0)
}

func parseCount(what, text string, least int64) (int64, error) {
	// 31 bits, so that every number fits an int anywhere.
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil || int64(n) < least {
		return 0, fmt.Errorf("%s: %q is not a whole number from %d to %d", what, text, least, 1<<31-1)
	}
	return int64(n), nil
}

// trigger takes a moment, which must be given.
func (s settings) trigger(key string) (Trigger, error) {
	text, ok := s.take(key)
	if !ok {
		return Trigger{}, fmt.Errorf("%s= is missing", key)
	}
	kind, count, counted := strings.Cut(text, ":")
	switch {
	case counted && kind == "send":
		n, err := parseCount(key, count, 1)
		return Trigger{AtSend, n}, err
	case counted && kind == "step":
		n, err := parseCount(key, count, 0)
		return Trigger{AtStep, n}, err
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return Trigger{}, fmt.Errorf("%s: %q is neither a duration such as 300ms, nor send:N, nor step:N", key, text)
	}
	return Trigger{After, int64(d)}, nil
}

// leftOver is an error if settings are left that no entry has.
func (s settings) leftOver() error {
	unknown := ""
	for key := range s {
		if unknown == "" || key < unknown {
			unknown = key // the first by name: the same error every time
		}
	}
	if unknown == "" {
		return nil
	}
	return fmt.Errorf("there is no setting %s=", unknown)
}
