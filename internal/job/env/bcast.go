package env

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"banyan/internal/proto"
	"banyan/internal/proto/broadcast"
	"banyan/internal/topology"
)

// BcastAuto, as a value of Bcast, leaves the choice to each communicator.
const BcastAuto = "auto"

// ErrBcastReplicas is why a job with replicas refuses a scheme.
var ErrBcastReplicas = errors.New("a job with replicas broadcasts by messages: which corrections are sent depends on timing, " +
	"and replicas of a rank must send the same")

// Defaults of a scheme's text.
const (
	defaultK      = 2                     // of k-ary and Lamé trees
	defaultRight  = 0                     // of a scheme without a correction: what jobs do by default
	defaultLeft   = 2                     //
	defaultEach   = 2                     // of an opportunistic correction without distances
	correctAfter  = 50 * time.Microsecond // as in a job without a scheme
	delayOfOthers = 50 * time.Microsecond // for which delayed correction waits
)

// ParseBcast reads the value of Bcast, entries with commas between them:
//
//	tree=KIND        binomial, kary:K, lame:K, optimal:L:O, chain, star, gossip or gossip:ROUNDS
//	correction=KIND  those of package broadcast; opportunistic ones with :EACH or :LEFT:RIGHT,
//	                 delayed with :TIME
//	numbering=ORDER  interleaved or inorder
//	after=TIME       how long a member waits before it corrects
//	start=overlapped the only start that works in a job
//
// Nothing, or BcastAuto, is no scheme.
func ParseBcast(text string) (s broadcast.Scheme, err error) {
	if text == "" || text == BcastAuto {
		return s, nil
	}
	s = broadcast.Scheme{
		Tree: broadcast.TreeBinomial, Correction: broadcast.SkipAhead, LeftDistance: defaultLeft, Distance: defaultRight,
		After: proto.Time(correctAfter),
	}
	seen := map[string]bool{}
	for _, entry := range strings.Split(text, ",") {
		key, value, is := strings.Cut(strings.TrimSpace(entry), "=")
		if !is || value == "" {
			return s, fmt.Errorf("%q: want tree=KIND, correction=KIND, numbering=ORDER or after=TIME, with commas between, such as tree=lame:2,correction=checked", entry)
		}
		if seen[key] {
			return s, fmt.Errorf("%s is there twice", key)
		}
		seen[key] = true
		switch key {
		case "tree":
			err = parseTree(&s, value)
		case "correction":
			err = parseCorrection(&s, value)
		case "numbering":
			s.Numbering, err = topology.ParseNumbering(value)
		case "after":
			s.After, err = parseWait(value)
		case "start":
			err = checkStart(value)
		default:
			err = fmt.Errorf("unknown key %q: want tree, correction, numbering or after", key)
		}
		if err != nil {
			return s, err
		}
	}
	return s, s.Validate()
}

func parseTree(s *broadcast.Scheme, text string) (err error) {
	name, rest, has := strings.Cut(text, ":")
	s.Tree = broadcast.TreeKind(name)
	switch {
	case s.Tree.NeedsK():
		s.K = defaultK
		if has {
			s.K, err = number("tree "+name, rest, 1)
		}
	case s.Tree == broadcast.TreeOptimal:
		s.Latency, s.Overhead = 2, 1 // the paper's
		if l, o, both := strings.Cut(rest, ":"); both {
			s.Latency, err = number("tree optimal: L", l, 0)
			if err == nil {
				s.Overhead, err = number("tree optimal: o", o, 1)
			}
		} else if has {
			err = fmt.Errorf("tree %q: want optimal:L:O, such as optimal:2:1", text)
		}
	case s.Tree == broadcast.TreeGossip:
		if _, e := time.ParseDuration(rest); has && e == nil && rest != "0" {
			return fmt.Errorf("tree %q: gossip for a time needs a clock that all processes share: give a number of rounds, such as gossip:8", text)
		}
		if has {
			s.Rounds, err = number("tree gossip: rounds", rest, 1)
		}
	case has:
		err = fmt.Errorf("tree %q: %s has no number", text, name)
	}
	return err
}

func parseCorrection(s *broadcast.Scheme, text string) (err error) {
	name, rest, has := strings.Cut(text, ":")
	if s.Correction, err = broadcast.ParseCorrection(name); err != nil {
		return err
	}
	s.LeftDistance, s.Distance = 0, 0
	switch {
	case s.Correction.HasDistance():
		s.LeftDistance, s.Distance = defaultEach, defaultEach
		left, right, both := strings.Cut(rest, ":")
		switch {
		case both:
			if s.LeftDistance, err = number("correction "+name+": to the left", left, 0); err == nil {
				s.Distance, err = number("correction "+name+": to the right", right, 0)
			}
		case has:
			s.Distance, err = number("correction "+name+": distance", rest, 1)
			s.LeftDistance = s.Distance
		}
	case s.Correction == broadcast.Delayed:
		s.Delay = proto.Time(delayOfOthers)
		if has {
			s.Delay, err = parseWait(rest)
		}
	case has:
		err = fmt.Errorf("correction %q: %s has no number", text, name)
	}
	return err
}

func parseWait(text string) (proto.Time, error) {
	const longest = time.Second // a member that waits for longer stands in for no failure detector
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > longest {
		return 0, fmt.Errorf("wait %q: want a time from 0s to %v, such as 50us", text, longest)
	}
	return proto.Time(d), nil
}

func checkStart(text string) error {
	switch text {
	case "overlapped":
		return nil
	case "synchronized":
		return errors.New("start=synchronized can't work in a job: it begins at a time given in advance, " +
			"and the processes have no common clock; after=TIME lets each wait after its own last message along the tree")
	}
	return fmt.Errorf("start %q: want overlapped", text)
}

func number(what, text string, least int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < least {
		return 0, fmt.Errorf("%s %q: want a number from %d", what, text, least)
	}
	return n, nil
}

// FormatBcast is the text of a scheme in full: ParseBcast reads it, and two schemes are the same if
// their texts are.
func FormatBcast(s broadcast.Scheme) string {
	if !s.Named() {
		return BcastAuto
	}
	text := "tree=" + string(s.Tree)
	switch {
	case s.Tree.NeedsK():
		text += fmt.Sprint(":", s.K)
	case s.Tree == broadcast.TreeOptimal:
		text += fmt.Sprintf(":%d:%d", s.Latency, s.Overhead)
	case s.Rounds > 0:
		text += fmt.Sprint(":", s.Rounds)
	}
	text += fmt.Sprint(",correction=", s.Correction)
	switch {
	case s.Correction.HasDistance():
		text += fmt.Sprintf(":%d:%d", s.LeftDistance, s.Distance)
	case s.Correction == broadcast.Delayed:
		text += ":" + formatWait(s.Delay)
	}
	return text + fmt.Sprintf(",numbering=%v,after=%s", s.Numbering, formatWait(s.After))
}

// formatWait writes microseconds as "us": PMI takes no other alphabet.
func formatWait(t proto.Time) string { return strings.Replace(time.Duration(t).String(), "µ", "u", 1) }

// ReadBcast reads Bcast.
func ReadBcast() (broadcast.Scheme, error) {
	s, err := ParseBcast(os.Getenv(Bcast))
	if err != nil {
		return s, fmt.Errorf("%s: %w", Bcast, err)
	}
	return s, nil
}
