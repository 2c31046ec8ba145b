package process

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"

	"banyan/internal/proto/thinning"
	"banyan/internal/varint"
)

// In a job with replicas, or one that goes back to snapshots, agreements are ordinary
// collectives of the caller's as long as no rank is lost: it hides deaths, so there is nothing
// else to agree on. When a job with replicas goes on after a loss, such a collective may have
// ended at some members only. So those that have ended are remembered, and all others are agreed
// on anew (package thinning).

// maskedAgreement is an agreement by a collective.
type maskedAgreement struct {
	context uint64
	number  uint64 // among those of the context
	result  []byte // of the collective, when it has ended
	ended   bool   // the collective has, without an error
}

// maskedAgreements are those of a process.
type maskedAgreements struct {
	numbers map[uint64]uint64 // by context, how many were begun
	under   []*Agreement      // in the order in which they were begun
	ended   []thinning.Result // the last keepMasked
	union   []thinning.Result // of all that stay, when a loss shows
	bytes   int               // of the results of ended
}

// keepMasked is how many results are kept, and keepMaskedBytes how many bytes they have at most.
// Another process lacks a result only as long as its own program hasn't waited for that agreement.
const (
	keepMasked      = 256
	keepMaskedBytes = 256 << 10
)

// ErrAnew ends the collective of an agreement that is made anew.
var ErrAnew = errors.New("the agreement is made anew, since a rank is lost")

// MaskedAgreement prepares an agreement on flags, or of flags with data if combine isn't nil. If
// collective is true the caller starts the collective that it is, which leaves its outcome in
// result; the request is that of the collective (BeginMasked). Otherwise it is begun, and h is the
// request.
func (p *Process) MaskedAgreement(id uint64, a *Agreement, data []byte, combine func(into, from []byte), strict bool, result []byte) (h Handle, collective bool) {
	a.masked = &maskedAgreement{context: id, result: result}
	a.Data, a.combine, a.strict = bytes.Clone(data), combine, strict
	if !p.thinned.shown {
		return Handle{}, true
	}
	h, _ = p.newRequest(composite)
	p.beginLate(a, h)
	return h, false
}

// BeginMasked begins an agreement with the collective that it is, whose request is h. It returns
// false if a loss has shown since the agreement was prepared: then it is made anew, and the
// collective mustn't begin.
func (p *Process) BeginMasked(a *Agreement, h Handle) bool {
	t, k := &p.thinned, a.masked
	a.handle = h
	switch {
	case t.m == nil:
		return true
	case t.shown:
		p.beginLate(a, h)
		return false
	}
	k.number = t.masked.next(k.context)
	t.masked.under = append(t.masked.under, a)
	return true
}

// beginLate begins an agreement when the loss has shown. It may have ended elsewhere nevertheless:
// a sibling of this process had begun it, and a rank that is lost has passed that on.
func (p *Process) beginLate(a *Agreement, h Handle) {
	m, k := &p.thinned.masked, a.masked
	a.handle = h
	if k.number = m.next(k.context); !m.take(a, m.union) {
		a.masked = nil
		p.attend(k.context, p.requests.get(h), a)
		return
	}
	p.End(h, nil)
}

// EndMasked says that the collective of an agreement has ended. It ends the request, unless the
// agreement is made anew.
func (p *Process) EndMasked(a *Agreement, err error) {
	t := &p.thinned
	if t.m != nil {
		i := slices.Index(t.masked.under, a)
		if i < 0 {
			return
		}
		if t.m.Frozen() {
			a.masked.ended = err == nil
			return
		}
		t.masked.under = slices.Delete(t.masked.under, i, i+1)
	}
	if err == nil {
		a.take(a.masked.result)
	}
	if err == nil && t.m != nil {
		t.masked.keep(thinning.Result{Context: a.masked.context, Number: a.masked.number, Data: bytes.Clone(a.masked.result)})
	}
	p.End(a.handle, err)
}

// thawMasked ends the agreements whose collectives have ended while none could.
func (p *Process) thawMasked() {
	for _, a := range slices.Clone(p.thinned.masked.under) {
		if a.masked.ended {
			p.EndMasked(a, nil)
		}
	}
}

// Masked tells whether the agreement was a collective.
func (a *Agreement) Masked() bool { return a.masked != nil }

// take takes the outcome of a collective.
func (a *Agreement) take(result []byte) {
	switch {
	case len(a.Data) > 0:
		copy(a.Data, result)
	case len(result) >= 4:
		a.Flags = binary.LittleEndian.Uint32(result)
	}
}

func (m *maskedAgreements) keep(r thinning.Result) {
	if len(m.ended) == keepMasked || m.bytes > keepMaskedBytes {
		half := len(m.ended) / 2
		for _, old := range m.ended[:half] {
			m.bytes -= len(old.Data)
		}
		m.ended = slices.Delete(m.ended, 0, half)
	}
	m.ended = append(m.ended, r)
	m.bytes += len(r.Data)
}

func (m *maskedAgreements) results() []thinning.Result { return slices.Clone(m.ended) }

// showMasked ends the agreements that have ended elsewhere, and makes the others anew.
func (p *Process) showMasked(results []thinning.Result) {
	under := p.thinned.masked.under
	p.thinned.masked.under, p.thinned.masked.union = nil, results
	for _, a := range under {
		k := a.masked
		switch r := p.requests.get(a.handle); {
		case r == nil:
		case p.thinned.masked.take(a, results):
			p.End(a.handle, nil)
		default:
			a.masked = nil
			p.attend(k.context, r, a)
		}
	}
}

// next counts an agreement of a context, and gives its number.
func (m *maskedAgreements) next(context uint64) uint64 {
	if m.numbers == nil {
		m.numbers = map[uint64]uint64{}
	}
	m.numbers[context]++
	return m.numbers[context]
}

// take has an agreement take its outcome from results, if it is among them.
func (m *maskedAgreements) take(a *Agreement, results []thinning.Result) bool {
	i := slices.IndexFunc(results, func(x thinning.Result) bool {
		return x.Context == a.masked.context && x.Number == a.masked.number
	})
	if i < 0 {
		return false
	}
	a.take(results[i].Data)
	m.keep(results[i]) // another launcher may ask anew
	return true
}

// appendMasked appends what a replacement has to know of agreements.
func (p *Process) appendMasked(b []byte) []byte {
	m := &p.thinned.masked
	b = varint.Append(b, uint64(len(m.numbers)))
	var contexts []uint64
	for id := range m.numbers {
		contexts = append(contexts, id) //banyan:maporder sorted below
	}
	slices.Sort(contexts)
	for _, id := range contexts {
		b = varint.Append(b, id, m.numbers[id])
	}
	b = varint.Append(b, uint64(len(m.ended)))
	for _, r := range m.ended {
		b = varint.AppendBytes(varint.Append(b, r.Context, r.Number), r.Data)
	}
	return b
}

// restoreMasked reads it.
func (p *Process) restoreMasked(r *varint.Reader) {
	m := maskedAgreements{numbers: map[uint64]uint64{}}
	for range r.Count() {
		id := r.Uint()
		m.numbers[id] = r.Uint()
	}
	for range r.Count() {
		x := thinning.Result{Context: r.Uint(), Number: r.Uint(), Data: bytes.Clone(r.Bytes())}
		m.keep(x)
	}
	if !r.Failed() {
		p.thinned.masked = m
	}
}
