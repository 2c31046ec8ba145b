package comm

import (
	"encoding/binary"
	"slices"

	"banyan/internal/proto"
	"banyan/internal/runtime/process"
)

// What a program uses that handles failures itself (ULFM), between two groups. All members of both
// groups take part.

// Agree is Comm.Agree of both groups: each group gets the AND of the other group's flags. Whether
// there is an error is the same at all.
func (i *Inter) Agree(flags uint32) (uint32, error) {
	a := i.Iagree(flags)
	_, err := i.eng.Wait(a.handle)
	return a.Flags(err)
}

// Iagree starts an Agree. It agrees on the flags of both groups, one after the other.
func (i *Inter) Iagree(flags uint32) Agreement {
	const op = "Agree"
	w := i.whole
	room := slices.Repeat([]byte{0xff}, 8)
	binary.LittleEndian.PutUint32(room[i.half(i.low):], flags)
	a := Agreement{comm: w, op: op, flagsOf: i}
	if w.eng.Masks() {
		a.outcome, a.masked = &process.Agreement{Kind: process.AgreeFlags, Flags: ^uint32(0)}, &masked{}
		flags := a.masked.flags[:]
		copy(flags, room)
		a.startMasked(room, intersect, flags, func() *Plan {
			return w.Allreduce(flags, flags, Op{Combiner: Func(intersect), Size: len(flags)})
		})
		return a
	}
	a.handle, a.outcome = w.eng.AgreeWith(w.context, ^uint32(0), room, intersect, w.strict)
	return a
}

func intersect(into, from []byte) {
	for i, b := range from {
		into[i] &= b
	}
}

// half is where the flags of the first group or the second one are.
func (i *Inter) half(first bool) int {
	if first {
		return 0
	}
	return 4
}

// remoteFlags are those of the other group, once an agreement has ended.
func (i *Inter) remoteFlags(o *process.Agreement) uint32 {
	if len(o.Data) < 8 {
		return o.Flags
	}
	return binary.LittleEndian.Uint32(o.Data[i.half(!i.low):])
}

// Ishrink starts a Shrink.
func (i *Inter) Ishrink() Agreement { return i.whole.Ishrink() }

// Shrink makes an intercommunicator of the members of both groups that live, as Comm.Shrink does.
// It is nil if nobody in the other group lives.
func (i *Inter) Shrink() (*Inter, error) {
	a := i.Ishrink()
	_, err := i.eng.Wait(a.handle)
	return i.Shrunk(a, err)
}

// Shrunk is the outcome of Ishrink. err is the engine's error of the operation, which has ended.
func (i *Inter) Shrunk(a Agreement, err error) (*Inter, error) {
	w := i.whole
	if err = a.end(err); err != nil {
		return nil, w.wrap(a.op, err)
	}
	gone := func(r proto.Rank) bool { return slices.Contains(a.outcome.Failed, r) }
	local := slices.DeleteFunc(slices.Clone(i.near.group), gone)
	remote := slices.DeleteFunc(slices.Clone(i.group), gone)
	if len(remote) == 0 {
		return nil, nil
	}
	d, err := i.openInter(a.derived(shrinkBranch), local, remote)
	return d, w.wrap(a.op, err)
}
