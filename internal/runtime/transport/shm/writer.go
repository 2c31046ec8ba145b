package shm

import (
	"math"
	"unsafe"

	"banyan/internal/runtime/wire"
)

const (
	// window is how many bytes beyond a record have their words zeroed in advance, at least.
	window = 4 * lineSize
	// ahead is how many have when there is room. The lines were the reader's, and it takes the
	// writer's core as long to get one back as to get several together.
	ahead = 2 * window
	// chunkSize is the most bytes that a stream record carries: the reader copies one record
	// while the writer fills the next. chunkShare says which part of a ring that is at most.
	chunkSize  = 32 << 10
	chunkShare = 8
	// chunkLeast is what a record carries at least, if there is as much. Of less than twice the
	// most a record carries half: so the reader isn't left with much to do at the end.
	chunkLeast = 8 << 10
)

// Writer is the writing end of a ring.
type Writer struct {
	half
	tail  uint64 // where the next record goes
	limit uint64 // the end of the room that the reader has freed: records must end here
	clear uint64 // from tail up to here the word of every line is 0
}

// Written is how many bytes of the ring were written so far, by Go or by C.
func (w *Writer) Written() uint64 { return w.tail }

// room says whether a record of so many bytes, and the window after it, fit.
func (w *Writer) room(bytes uint64) bool {
	end := w.tail + lines(bytes) + window
	if end > w.limit {
		w.look()
	}
	return end <= w.limit
}

// look asks how far the reader is. An impossible answer is ignored.
func (w *Writer) look() {
	head := w.control.head.Load()
	if head <= w.tail && w.tail-head <= w.size && head%lineSize == 0 && head+w.size > w.limit {
		w.limit = head + w.size
	}
}

// publish makes the record at tail visible. All of the record but its word must be there.
func (w *Writer) publish(word, bytes uint64) {
	next := w.tail + lines(bytes)
	if w.clear <= next {
		w.zero(next)
		w.clear = next + lineSize
	}
	w.word(w.tail).Store(word)
	w.tail = next
	if w.clear >= next+window {
		return
	}
	for upto := min(next+ahead, w.limit); w.clear < upto; w.clear += lineSize {
		w.zero(w.clear)
	}
}

func (w *Writer) zero(position uint64) { *(*uint64)(w.at(position)) = 0 }

// Frame writes a whole frame with at most transport.DirectSize bytes of payload. If there is no
// room it writes nothing.
func (w *Writer) Frame(h *wire.Header, payload []byte) bool {
	switch {
	case h.ID != 0 || h.Total > math.MaxUint32:
		return w.full(h, payload)
	case h.Aux != 0 || h.Offset != 0:
		if h.Kind == wire.KindEager {
			return w.typed(h, payload)
		}
		return w.middle(h, payload)
	}
	return w.short(h, payload, uint32(h.Total), formShort)
}

// short writes a short frame, or a typed one, which differs in total and form.
func (w *Writer) short(h *wire.Header, payload []byte, total uint32, form uint64) bool {
	n := uint64(len(payload))
	if !w.room(shortSize + n) {
		return false
	}
	at := w.at(w.tail)
	s := (*short)(at)
	s.context, s.seq = h.Context, h.Seq
	s.src, s.dst, s.tag = int32(h.Src), int32(h.Dst), h.Tag
	s.total = total
	copy(unsafe.Slice((*byte)(unsafe.Add(at, shortSize)), n), payload)
	w.publish(form|uint64(h.Kind)<<8|uint64(h.Flags)<<16|n<<32, shortSize+n)
	return true
}

// typed writes a message whose type is given.
func (w *Writer) typed(h *wire.Header, payload []byte) bool {
	aux := uint64(uint32(h.Aux))
	if aux > wire.MaxType || h.Total > math.MaxUint16 || h.Offset != 0 {
		return w.full(h, payload)
	}
	return w.short(h, payload, uint32(h.Total)|uint32(aux>>8)<<16, formTyped|aux&0xff<<24)
}

func (w *Writer) middle(h *wire.Header, payload []byte) bool {
	if h.Tag != 0 {
		return w.full(h, payload)
	}
	n := uint64(len(payload))
	if !w.room(middleSize + n) {
		return false
	}
	at := w.at(w.tail)
	m := (*middle)(at)
	m.context, m.seq, m.offset = h.Context, h.Seq, h.Offset
	m.src, m.dst, m.aux = int32(h.Src), int32(h.Dst), h.Aux
	m.total = uint32(h.Total)
	copy(unsafe.Slice((*byte)(unsafe.Add(at, middleSize)), n), payload)
	w.publish(formMiddle|uint64(h.Kind)<<8|uint64(h.Flags)<<16|n<<32, middleSize+n)
	return true
}

func (w *Writer) full(h *wire.Header, payload []byte) bool {
	n := uint64(len(payload))
	if !w.room(fullSize + n) {
		return false
	}
	body := unsafe.Slice((*byte)(w.at(w.tail)), fullSize+n)
	wire.EncodeHeader(body[8:], h)
	copy(body[fullSize:], payload)
	w.publish(formFull|n<<32, fullSize+n)
	return true
}

// Stream writes bytes of a stream, as many as there is room for, but at most one record. It
// returns how many it has written.
func (w *Writer) Stream(runs ...[]byte) int {
	total := uint64(0)
	for _, run := range runs {
		total += uint64(len(run))
	}
	most := min(max(lines(total/2), chunkLeast), chunkSize, w.size/chunkShare)
	if !w.room(streamSize+most) && !w.room(streamSize+lineSize) {
		return 0
	}
	most = min(w.limit-w.tail-window-streamSize, most)
	body := unsafe.Slice((*byte)(unsafe.Add(w.at(w.tail), streamSize)), most)
	n := 0
	for _, run := range runs {
		n += put(body[n:], run)
	}
	if n > 0 {
		w.publish(formStream|uint64(n)<<32, streamSize+uint64(n))
	}
	return n
}

// Hunger announces that the writer waits for room. The writer then has to look once more: the
// doorbell rings only for room that is made from now on.
func (w *Writer) Hunger() { w.control.hungry.Store(1) }

// Fed announces that the writer doesn't wait for room any more.
func (w *Writer) Fed() {
	if w.control.hungry.Load() != 0 { // to store takes the line from the reader
		w.control.hungry.Store(0)
	}
}
