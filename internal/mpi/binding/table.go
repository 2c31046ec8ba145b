package binding

import (
	"sync"
	"sync/atomic"
)

// A handle that is made at run time is a number of 31 bits, so that conversion to a C int and
// back loses nothing:
//
//	bits 0–3    the kind of object
//	bits 4–23   the index in the table, from 256 on: predefined handles are lower
//	bits 24–30  how often the entry has been used before, modulo 128
//
// So a handle of the wrong kind is detected, and one of a freed object too, unless its entry
// has been used 128 times since.
const (
	kindBits    = 4
	firstIndex  = 256
	indexBits   = 20
	firstHandle = firstIndex << kindBits
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
	kindInLane // requests that C knows
)

// table maps the handles of one kind to objects. get takes no lock and may run beside all other
// methods. The zero table, with its kind set, is empty.
type table[T any] struct {
	kind   uint32
	chunks [1 << (indexBits - chunkBits)]atomic.Pointer[chunk[T]]

	mu   sync.Mutex
	free []uint32 // the next handles of entries that were freed
	used uint32   // entries ever used
}

type chunk[T any] [chunkSize]entry[T]

type entry[T any] struct {
	handle atomic.Uint32 // 0: free
	object atomic.Pointer[T]
}

// at is the entry of a handle, nil if there is none.
func (t *table[T]) at(h uintptr) *entry[T] {
	index := (uint32(h)>>kindBits)&(1<<indexBits-1) - firstIndex
	if index >= 1<<indexBits-firstIndex {
		return nil
	}
	c := t.chunks[index>>chunkBits].Load()
	if c == nil {
		return nil
	}
	return &c[index&(chunkSize-1)]
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
		if t.used == 1<<indexBits-firstIndex {
			return 0
		}
		if c := &t.chunks[t.used>>chunkBits]; c.Load() == nil {
			c.Store(new(chunk[T]))
		}
		h = (t.used+firstIndex)<<kindBits | t.kind
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
	t.free = append(t.free, (uint32(h)+1<<(kindBits+indexBits))&(generations<<(kindBits+indexBits)-1))
	return object
}

// kindName says what kind of object a handle names, by its number.
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
	case kindRequest, kindInLane:
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
