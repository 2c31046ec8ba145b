package binding

import (
	"unsafe"

	"banyan/internal/mpi/comm"
)

// send is data to send.
func (k *collective) send(buf unsafe.Pointer, count int64, datatype Datatype) []byte {
	return k.message(buf, count, datatype, true, false)
}

// receive is data to receive.
func (k *collective) receive(buf unsafe.Pointer, count int64, datatype Datatype) []byte {
	return k.message(buf, count, datatype, false, true)
}

// update is data that is changed in place.
func (k *collective) update(buf unsafe.Pointer, count int64, datatype Datatype) []byte {
	return k.message(buf, count, datatype, true, true)
}

func (k *collective) message(buf unsafe.Pointer, count int64, datatype Datatype, out, in bool) []byte {
	if !k.good() {
		return nil
	}
	way := inwards
	switch {
	case out && in:
		way = 0
	case out:
		way = outwards
	}
	if b, ok := k.p.plain.bytes(buf, count, datatype); ok {
		k.reaches(way, b)
		return b
	}
	d, code := k.p.incoming(k.c, k.function, buf, count, datatype)
	if k.code = code; d.pooled == nil {
		k.reaches(way, d.bytes)
		return d.bytes
	}
	first, _ := d.typ.Span(count)
	k.reaches(way, unsafe.Slice((*byte)(unsafe.Add(buf, first)), 1))
	k.pooled = append(k.pooled, d.pooled)
	k.note(d, out, in)
	return d.bytes
}

// note remembers data that is to be packed (out) or unpacked (in).
func (k *collective) note(d data, out, in bool) {
	if out {
		k.out = append(k.out, d)
	}
	if in {
		k.in = append(k.in, d)
	}
}

type blocks = comm.Blocks

// part is one block of the program's data.
type part struct {
	buf      unsafe.Pointer
	count    int64
	datatype Datatype
}

// How parts treats its blocks.
const (
	outwards = 1 << iota // packed before the start
	inwards              // unpacked at the end
	copied               // even if contiguous: the memory changes meanwhile
)

// parts are n blocks of the program's data. A collective has up to two lists of them: which
// is the number of this one.
func (k *collective) parts(which, n, way int, at func(i int) part) blocks {
	list := k.blocks[which]
	if cap(list) < n || list == nil {
		list = make([][]byte, n)
	}
	list = list[:n]
	k.blocks[which] = list
	k.reach[way&inwards/inwards].list = which + 1
	whole := int64(0) // bytes that need a buffer
	for i := range list {
		list[i] = nil
		if !k.good() {
			return blocks{Parts: list}
		}
		x := at(i)
		o, size, code := k.p.usable(k.c, k.function, x.buf, x.count, x.datatype)
		if k.code = code; size == 0 {
			continue
		}
		if first, contiguous := o.Contiguous(x.count); contiguous && way&copied == 0 {
			list[i] = unsafe.Slice((*byte)(unsafe.Add(x.buf, first)), size)
			k.reaches(way, list[i])
		} else {
			whole += size
		}
	}
	if whole == 0 {
		return blocks{Parts: list}
	}
	room := scratch.take(whole)
	k.pooled = append(k.pooled, room)
	free := *room
	for i := range list {
		if list[i] != nil {
			continue
		}
		x := at(i)
		d := data{typ: k.p.datatype(x.datatype), buf: x.buf, count: x.count}
		size, _ := d.typ.Bytes(x.count)
		if size == 0 {
			continue
		}
		d.bytes, free = free[:size:size], free[size:]
		list[i] = d.bytes
		d.pooled = room
		k.note(d, way&outwards != 0, way&inwards != 0)
	}
	return blocks{Parts: list}
}

// copyOf packs data into a buffer even if it is contiguous, because the memory changes
// meanwhile.
func (k *collective) copyOf(buf unsafe.Pointer, count int64, datatype Datatype) []byte {
	return k.parts(1, 1, outwards|copied, func(int) part { return part{buf, count, datatype} }).Of(0)
}

// times is a count for every rank.
func (k *collective) times(count int64) int64 {
	if count < 0 || count > maxData {
		return count // the caller's next check reports it
	}
	return count * int64(k.size())
}

// block is this rank's part of data for all.
func (k *collective) block(all []byte) []byte {
	each := len(all) / k.size()
	return all[k.rank()*each : (k.rank()+1)*each]
}

// own is this rank's contribution with MPI_IN_PLACE. It is sent from its position in the receive
// buffer.
func (k *collective) own(recv []byte, buf unsafe.Pointer, count int64, datatype Datatype) []byte {
	if !k.good() {
		return nil
	}
	b := k.block(recv)
	k.packOwn(k.strided(buf, count, datatype)(k.rank()), b)
	return b
}

// ownPart is own for separate blocks.
func (k *collective) ownPart(recv blocks, at func(i int) part) []byte {
	if !k.good() {
		return nil
	}
	b := recv.Of(k.rank())
	k.packOwn(at(k.rank()), b)
	return b
}

// packOwn has this rank's part packed before the start, unless it is its own message.
func (k *collective) packOwn(x part, block []byte) {
	o := k.p.datatype(x.datatype)
	if first, contiguous := o.Contiguous(x.count); len(block) == 0 || contiguous && unsafe.Add(x.buf, first) == unsafe.Pointer(&block[0]) {
		return
	}
	k.out = append(k.out, data{typ: o, buf: x.buf, count: x.count, bytes: block})
}

// strided are blocks of count elements that follow each other.
func (k *collective) strided(buf unsafe.Pointer, count int64, datatype Datatype) func(i int) part {
	extent := k.extent(datatype)
	return func(i int) part { return part{unsafe.Add(buf, int64(i)*count*extent), count, datatype} }
}

// displaced are blocks of counts[i] elements, displs[i] extents from buf.
func (k *collective) displaced(buf unsafe.Pointer, counts, displs Counts, datatype Datatype) func(i int) part {
	k.given(counts, displs)
	extent := k.extent(datatype)
	return func(i int) part { return part{unsafe.Add(buf, displs.At(i)*extent), counts.At(i), datatype} }
}

// typed are blocks of counts[i] elements of types[i], displs[i] bytes from buf.
func (k *collective) typed(buf unsafe.Pointer, counts, displs Counts, types *Datatype) func(i int) part {
	k.given(counts, displs)
	if types == nil {
		k.fail(ErrArg, "the array of datatypes is null")
	}
	return func(i int) part {
		datatype := *(*Datatype)(unsafe.Add(unsafe.Pointer(types), uintptr(i)*unsafe.Sizeof(*types)))
		return part{unsafe.Add(buf, displs.At(i)), counts.At(i), datatype}
	}
}

// given checks that arrays aren't null.
func (k *collective) given(counts, displs Counts) {
	if counts.IsNil() || displs.IsNil() {
		k.fail(ErrArg, "the array of counts or displacements is null")
	}
}

// extent is a type's extent. It is 0 if there is no such type, which a later check reports.
func (k *collective) extent(datatype Datatype) int64 {
	o := k.p.datatype(datatype)
	if o == nil {
		return 0
	}
	_, extent := o.Extent()
	return extent
}
