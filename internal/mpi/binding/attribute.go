package binding

import (
	"slices"
	"sync"
	"sync/atomic"
)

// keyval is a key of attributes, for one kind of objects.
type keyval struct {
	number    int32
	kind      int
	copy, del uintptr // functions of the program, or the constants below
	extra     uintptr // passed to them

	deleting atomic.Int32 // calls of its delete function under way
}

// The addresses of the standard's own copy and delete functions.
const (
	copyNothing uintptr = 0
	copyValue   uintptr = 1
	deleteOnly  uintptr = 0 // no function of the program is called
)

// keyvals are the keys in use, by number. A freed key stays alive in the objects that have such
// an attribute.
//
// A delete function may free its own key, which the program then frees, too: such a key may be
// freed again.
type keyvals struct {
	mu     sync.Mutex
	keys   map[int32]*keyval
	again  map[int32]*keyval // freed by their delete functions
	number int32
}

// firstKey is the first number of the program's keys: the predefined ones are lower.
const firstKey = 1024

func (k *keyvals) create(kind int, copy, del, extra uintptr) int32 {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.keys == nil {
		k.keys, k.number = map[int32]*keyval{}, firstKey
	}
	k.number++
	k.keys[k.number] = &keyval{number: k.number, kind: kind, copy: copy, del: del, extra: extra}
	return k.number
}

// find is the key of a number, nil if there is none for that kind of object.
func (k *keyvals) find(kind int, number int32) *keyval {
	k.mu.Lock()
	defer k.mu.Unlock()
	if key := k.keys[number]; key != nil && key.kind == kind {
		return key
	}
	return nil
}

func (k *keyvals) free(kind int, number int32) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := k.keys[number]
	if key == nil {
		key = k.again[number]
	}
	if key == nil || key.kind != kind {
		return false
	}
	if key.deleting.Load() > 0 {
		if k.again == nil {
			k.again = map[int32]*keyval{}
		}
		k.again[number] = key
	}
	delete(k.keys, number)
	return true
}

// attributes are those of one object, in the order in which they were set.
type attributes struct {
	mu   sync.Mutex
	list []attribute
}

type attribute struct {
	key   *keyval
	value uintptr
}

func (a *attributes) get(number int32) (attribute, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, e := range a.list {
		if e.key.number == number {
			return e, true
		}
	}
	return attribute{}, false
}

// take removes an attribute and returns it.
func (a *attributes) take(number int32) (attribute, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.IndexFunc(a.list, func(e attribute) bool { return e.key.number == number })
	if i < 0 {
		return attribute{}, false
	}
	e := a.list[i]
	a.list = slices.Delete(a.list, i, i+1)
	return e, true
}

// put sets an attribute that isn't there.
func (a *attributes) put(e attribute) {
	a.mu.Lock()
	a.list = append(a.list, e)
	a.mu.Unlock()
}

// last is the attribute that was set last.
func (a *attributes) last() (attribute, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if n := len(a.list); n > 0 {
		return a.list[n-1], true
	}
	return attribute{}, false
}

// setAttribute gives an object an attribute. It first deletes the old attribute of the same
// key. If that one's delete function fails, the old attribute stays and the function's code is
// returned.
func (p *Process) setAttribute(a *attributes, object uintptr, key *keyval, value uintptr) Code {
	if code := p.deleteAttribute(a, object, key.number); code != Success {
		return code
	}
	a.put(attribute{key, value})
	return Success
}

// deleteAttribute deletes an attribute, if there is one. The attribute stays if its delete
// function fails.
func (p *Process) deleteAttribute(a *attributes, object uintptr, number int32) Code {
	e, found := a.take(number)
	if !found || e.key.del == deleteOnly {
		return Success
	}
	e.key.deleting.Add(1)
	code := p.host.DeleteAttribute(e.key.del, object, number, e.value, e.key.extra)
	e.key.deleting.Add(-1)
	if code != Success {
		a.put(e)
	}
	return code
}

// deleteAttributes deletes all attributes of an object that is freed, the last first. It stops
// at the first delete function that fails.
func (p *Process) deleteAttributes(a *attributes, object uintptr) Code {
	for {
		e, found := a.last()
		if !found {
			return Success
		}
		if code := p.deleteAttribute(a, object, e.key.number); code != Success {
			return code
		}
	}
}

// copyAttributes copies attributes to a duplicate, as the original's copy functions decide. It
// stops at the first function that fails.
func (p *Process) copyAttributes(from *attributes, original uintptr, to *attributes) Code {
	from.mu.Lock()
	list := slices.Clone(from.list)
	from.mu.Unlock()
	for _, e := range list {
		value, keep, code := e.value, true, Success
		switch e.key.copy {
		case copyNothing:
			continue
		case copyValue:
		default:
			value, keep, code = p.host.CopyAttribute(e.key.copy, original, e.key.number, e.key.extra, e.value)
		}
		if code != Success {
			return code
		}
		if keep {
			to.put(attribute{e.key, value})
		}
	}
	return Success
}
