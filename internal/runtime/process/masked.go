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
}

// keepMasked is how many results are kept. Another process lacks a result only as long as its own
// program hasn't waited for that agreement.
const keepMasked = 256

// ErrAnew ends the collective of an agreement that is made anew.
var ErrAnew = errors.New("the agreement is made anew, since a rank is lost")

// MaskedAgreement begins an agreement on flags, or of flags with data if combine isn't nil. If
// collective is true the caller starts the collective that it is, which leaves its outcome in
// result; the request is that of the collective (BeginMasked). Otherwise h is the request.
func (p *Process) MaskedAgreement(id uint64, a *Agreement, data []byte, combine func(into, from []byte), strict bool, result []byte) (h Handle, collective bool) {
	t := &p.thinned
	a.masked = &maskedAgreement{context: id, result: result}
	a.Data, a.combine, a.strict = bytes.Clone(data), combine, strict
	if t.m == nil {
		return Handle{}, true
	}
	if t.masked.numbers == nil {
		t.masked.numbers = map[uint64]uint64{}
	}
	t.masked.numbers[id]++
	a.masked.number = t.masked.numbers[id]
	if !t.shown {
		t.masked.under = append(t.masked.under, a)
		return Handle{}, true
	}
	h, r := p.newRequest(composite)
	a.handle, a.masked = h, nil
	p.attend(id, r, a)
	return h, false
}

// BeginMasked says which request the collective of an agreement has.
func (p *Process) BeginMasked(a *Agreement, h Handle) { a.handle = h }

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
	if len(m.ended) == keepMasked {
		m.ended = slices.Delete(m.ended, 0, keepMasked/2)
	}
	m.ended = append(m.ended, r)
}

func (m *maskedAgreements) results() []thinning.Result { return slices.Clone(m.ended) }

// showMasked ends the agreements that have ended elsewhere, and makes the others anew.
func (p *Process) showMasked(results []thinning.Result) {
	under := p.thinned.masked.under
	p.thinned.masked.under = nil
	for _, a := range under {
		k := a.masked
		r := p.requests.get(a.handle)
		i := slices.IndexFunc(results, func(x thinning.Result) bool { return x.Context == k.context && x.Number == k.number })
		switch {
		case r == nil:
		case i >= 0:
			a.take(results[i].Data)
			p.thinned.masked.keep(results[i]) // another launcher may ask anew
			p.End(a.handle, nil)
		default:
			a.masked = nil
			p.attend(k.context, r, a)
		}
	}
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
		m.ended = append(m.ended, x)
	}
	if !r.Failed() {
		p.thinned.masked = m
	}
}
