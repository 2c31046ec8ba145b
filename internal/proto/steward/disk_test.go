package steward

import (
	"fmt"
	"slices"

	"banyan/internal/proto"
)

// disk is the shared file system of a witness that is files, with each agent's copy of the witness.
// Each call has two moments: when it takes effect, and when the agent learns its end, which may be
// another one than it was: lies are the calls that may end with FileUnknown, or with FileExists
// though the file was made, or with FileAbsent though there is one.
type disk struct {
	host    Host // of the witness
	files   []*Entry
	copies  []*FileWitness
	calls   []diskCall // under way, by host
	lies    int
	mistake diskMistake
}

// diskMistake is one that could be made.
type diskMistake string

const (
	overwritten diskMistake = "a file is made over one that is there"
	passedOver  diskMistake = "a number is passed whose file wasn't read"
	untrue      diskMistake = "a file that is there already is taken for another agent's, unread"
)

type diskCall struct {
	call     *FileCall // nil: none is under way
	executed bool
	result   FileResult
}

// diskStep is what may happen next to a call.
type diskStep uint8

const (
	dsNone diskStep = iota
	dsExecute
	dsReturn
	dsUnknown // it returns a lie
	dsUntrue
)

var diskSteps = [...]string{"", "execute", "return", "fail", "lie"}

func newDisk(agents int, witness Host, first *Ledger, lies int, m diskMistake) *disk {
	d := &disk{host: witness, calls: make([]diskCall, agents), lies: lies, mistake: m}
	for h := range agents {
		d.copies = append(d.copies, NewFileWitness(0, witness, uint64(h), first))
	}
	return d
}

func (d *disk) ask(h Host, m *Message) { d.begin(h, d.copies[h].Ask(m)) }

func (d *disk) begin(h Host, c *FileCall) {
	if c != nil {
		d.calls[h] = diskCall{call: c}
	}
}

// steps are what may happen next to an agent's call.
func (d *disk) steps(h Host) []diskStep {
	c := d.calls[h]
	switch {
	case c.call == nil:
		return nil
	case !c.executed && d.lies > 0:
		return []diskStep{dsExecute, dsUnknown}
	case !c.executed:
		return []diskStep{dsExecute}
	case d.lies > 0 && c.result.Outcome == FileDone:
		return []diskStep{dsReturn, dsUnknown, dsUntrue}
	case d.lies > 0:
		return []diskStep{dsReturn, dsUnknown}
	}
	return []diskStep{dsReturn}
}

// execute has a call take effect.
func (d *disk) execute(h Host) {
	c := &d.calls[h]
	c.executed = true
	at, free := int(c.call.Number)-1, int(c.call.Number) > len(d.files)
	switch {
	case at > len(d.files):
		panic("a number is left out")
	case c.call.Make == nil && free:
		c.result = FileResult{Outcome: FileAbsent}
	case c.call.Make == nil:
		c.result = FileResult{Entry: d.files[at]}
	case free:
		d.files = append(slices.Clip(d.files), c.call.Make)
	case d.mistake == overwritten:
		d.files = slices.Clone(d.files)
		d.files[at] = c.call.Make
	default:
		c.result = FileResult{Outcome: FileExists}
	}
}

// end ends a call, as its agent learns it.
func (d *disk) end(now proto.Time, h Host, s diskStep) (out []Action) {
	c := d.calls[h]
	r := c.result
	switch {
	case s == dsReturn:
	case s == dsUnknown:
		d.lies--
		r = FileResult{Outcome: FileUnknown}
	case c.call.Make != nil:
		d.lies--
		r = FileResult{Outcome: FileExists}
	default:
		d.lies--
		r = FileResult{Outcome: FileAbsent}
	}
	d.calls[h] = diskCall{}
	f := d.copies[h]
	if taken := int(f.next) <= len(d.files); d.mistake == untrue && r.Outcome == FileExists || taken && d.mistake == passedOver && r.Outcome == FileUnknown && c.call.Make == nil {
		f.next++
		f.read, f.stale, r = true, false, FileResult{Outcome: FileAbsent}
	}
	d.begin(h, f.Ended(now, c.call, r, &out))
	return out
}

func (d *disk) clone() *disk {
	c := *d
	c.copies, c.calls = nil, slices.Clone(d.calls)
	for _, f := range d.copies {
		g := *f
		g.witness, g.waiting = *f.witness.clone(), slices.Clone(f.waiting)
		c.copies = append(c.copies, &g)
	}
	return &c
}

func (d *disk) appendKey(dst []byte) []byte {
	dst = fmt.Append(dst, "\ndisk", d.lies)
	entry := func(e *Entry) {
		if e != nil {
			m := e.Message
			dst = fmt.Append(dst, "|", e.Writer, e.Count, m.Kind, m.Number, m.Term, m.At, m.ID, m.About)
		}
	}
	for _, e := range d.files {
		entry(e)
	}
	for h, f := range d.copies {
		v := &f.witness.voter
		dst = fmt.Append(dst, "\nf", f.count, f.next, f.busy, f.read, f.stale, v.promised, v.to, v.at, v.steward, v.id, v.electorate.Since,
			v.since, v.stewardHeard, v.granted, v.doubted)
		for _, m := range f.waiting {
			dst = fmt.Append(dst, m.Kind, m.Number, m.Term, m.At)
		}
		dst = append(dst, 't')
		entry(f.trying)
		if c := d.calls[h]; c.call != nil {
			dst = fmt.Append(dst, "c", c.call.Number, c.executed, c.result.Outcome)
			entry(c.call.Make)
			entry(c.result.Entry)
		}
	}
	return dst
}
