package counters

import "banyan/internal/proto"

// Span is a span of time of which the process is to record its frames.
type Span struct {
	Number uint64 // rises with each one; 0: none was asked for
	// Begin is what times count from, in nanoseconds of CLOCK_MONOTONIC. The span is from From on
	// and before Until.
	Begin       int64
	From, Until proto.Time
	Path        string // the file to record into; Ask refuses one longer than MaxPath
}

// Ask asks for a Span. One thread at a time may call it. It returns false if the path is too long.
func (p *Page) Ask(s *Span) bool {
	if len(s.Path) > MaxPath {
		return false
	}
	w := p.words[asked:]
	w[0].Store(0) // nothing is asked for while this is written
	w[1].Store(uint64(s.Begin))
	w[2].Store(uint64(s.From))
	w[3].Store(uint64(s.Until))
	writeText(w[4:], s.Path)
	w[0].Store(s.Number)
	return true
}

// Asked is the number of the Span that was asked for last; 0: there is none.
func (p *Page) Asked() uint64 { return p.words[asked].Load() }

// Span is the one that was asked for last. ok is false if there is none, or one is being written.
func (p *Page) Span() (s Span, ok bool) {
	w := p.words[asked:]
	s.Number = w[0].Load()
	s.Begin, s.From, s.Until = int64(w[1].Load()), proto.Time(w[2].Load()), proto.Time(w[3].Load())
	path, ok := readText(w[4:], MaxPath)
	s.Path = string(path)
	return s, ok && s.Number != 0 && w[0].Load() == s.Number
}
