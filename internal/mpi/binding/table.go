package binding

import (
	"sync"
	"sync/atomic"
)

// A handle made at run time is a number of 31 bits, so that conversion to a C int
// and back loses nothing:
//
//	bits 0–3    the kind of object
//	bits 4–23   the place in the table, from 256 on: predefined handles are lower
//	bits 24–30  how often the place has been used before, modulo 128
//
// A handle of the wrong kind, or of something that was freed, is therefore
// noticed, the latter unless the place has been used 128 times since.
const (
	kindBits    = 4
	firstPlace  = 256
	placeBits   = 20
	firstHandle = firstPlace << kindBits
	generations = 128

	chunkBits = 10
	chunkSize = 1 << chunkBits
)

// Kinds of handles.
const (
	kindComm = 1 + iota
	kindGroup
	kindDatatype
	kindOp
	kindRequest
	kindInfo
	kindErrhandler
	kindMessage
	kindWin
	kindFile
	kindSession
)

// table maps the handles of one kind to objects. get takes no lock and may run
// beside anything. The zero table, with its kind set, is empty.
type table[T any] struct {
	kind   uint32
	chunks [1 << (placeBits - chunkBits)]atomic.Pointer[chunk[T]]

	mu   sync.Mutex
	free []uint32 // the next handles of places that were freed
	used uint32   // places ever used
}

type chunk[T any] [chunkSize]entry[T]

type entry[T any] struct {
	handle atomic.Uint32 // 0: free
	object atomic.Pointer[T]
}

// at is the place of a handle, nil if there is none.
func (t *table[T]) at(h uintptr) *entry[T] {
	place := (uint32(h)>>kindBits)&(1<<placeBits-1) - firstPlace
	if place >= 1<<placeBits-firstPlace {
		return nil
	}
	c := t.chunks[place>>chunkBits].Load()
	if c == nil {
		return nil
	}
	return &c[place&(chunkSize-1)]
}

// get is the object of a handle, or nil.
func (t *table[T]) get(h uintptr) *T {
	if e := t.at(h); e != nil && uintptr(e.handle.Load()) == h {
		return e.object.Load()
	}
	return nil
}

// add makes a handle for an object; 0 if there are too many.
func (t *table[T]) add(object *T) uintptr {
	t.mu.Lock()
	defer t.mu.Unlock()
	var h uint32
	if n := len(t.free); n > 0 {
		h, t.free = t.free[n-1], t.free[:n-1]
	} else {
		if t.used == 1<<placeBits-firstPlace {
			return 0
		}
		if c := &t.chunks[t.used>>chunkBits]; c.Load() == nil {
			c.Store(new(chunk[T]))
		}
		h = (t.used+firstPlace)<<kindBits | t.kind
		t.used++
	}
	e := t.at(uintptr(h))
	e.object.Store(object)
	e.handle.Store(h)
	return uintptr(h)
}

// remove frees a handle and returns its object, nil if it has none.
func (t *table[T]) remove(h uintptr) *T {
	t.mu.Lock()
	defer t.mu.Unlock()
	object := t.get(h)
	if object == nil {
		return nil
	}
	e := t.at(h)
	e.handle.Store(0)
	e.object.Store(nil)
	t.free = append(t.free, (uint32(h)+1<<(kindBits+placeBits))&(generations<<(kindBits+placeBits)-1))
	return object
}

// kindName says what a handle names, as far as its number tells.
func kindName(h uintptr) string {
	if h < firstHandle || h >= 1<<31 {
		return ""
	}
	switch h & (1<<kindBits - 1) {
	case kindComm:
		return "a communicator"
	case kindGroup:
		return "a group"
	case kindDatatype:
		return "a datatype"
	case kindOp:
		return "an operation"
	case kindRequest:
		return "a request"
	case kindInfo:
		return "an info object"
	case kindErrhandler:
		return "an error handler"
	case kindMessage:
		return "a message"
	case kindWin:
		return "a window"
	case kindFile:
		return "a file"
	case kindSession:
		return "a session"
	}
	return ""
}
