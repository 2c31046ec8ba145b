package mpi

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"banyan/internal/runtime/wire"
	"banyan/internal/splitmix"
)

// Element is an element of a message: a number, a bool, or an array or struct of these. Its memory
// is the message, so it must be all data: no pointers, which mean nothing elsewhere, and no padding
// and no blank fields, whose memory nobody sets. The compiler can't say so: calls with elements of
// another type return ErrElement, with the field that doesn't fit.
type Element any

// Causes of an Error, for errors.Is.
var (
	ErrElement = errors.New("no type for elements of messages") // ... of T: see Element
	ErrType    = errors.New("a message of another type")        // see TypeError
)

// TypeError says that a message has elements of another type than its receive. Types are the same
// if they have the same numbers at the same places, whatever their names: a struct of two float64
// is a [2]float64, and both are two float64. A message from C fits every type.
type TypeError struct {
	Sent     string // the type of the message's elements, as its sender calls it
	Received string // the type that the receive asks for
	// Bytes, if not 0, is the size of the message: the types go together, but this isn't a whole
	// number of the receiver's elements.
	Bytes int
}

func (e *TypeError) Error() string {
	if e.Bytes > 0 {
		return fmt.Sprintf("the message has %d bytes of type %s, which is no whole number of elements of type %s", e.Bytes, e.Sent, e.Received)
	}
	return fmt.Sprintf("the message has elements of type %s, and is received as %s", e.Sent, e.Received)
}

// Is makes errors.Is(err, ErrType) true.
func (e *TypeError) Is(target error) bool { return target == ErrType }

// element is what messages have to know of a type. It is found out once for each type.
type element struct {
	typ  reflect.Type
	id   uint32 // what messages say of it: a digest of its layout, never 0
	size int
	name string
	err  error // why it can't be an element
}

// elements has the types that were used last, each at one place that its address gives: to find a
// type costs a few instructions. known has all of them.
var (
	elements [128]atomic.Pointer[cached]
	known    sync.Map // reflect.Type to *cached
)

type cached struct {
	key     unsafe.Pointer // the type, as interfaces have it
	element *element
}

// elementOf is what there is to know of a type.
func elementOf[T Element]() *element {
	var nothing any = (*T)(nil)
	key := *(*unsafe.Pointer)(unsafe.Pointer(&nothing)) // the word that says the type
	slot := &elements[uintptr(key)>>5%uintptr(len(elements))]
	if c := slot.Load(); c != nil && c.key == key {
		return c.element
	}
	return findElement(slot, key, reflect.TypeFor[T]())
}

func findElement(slot *atomic.Pointer[cached], key unsafe.Pointer, t reflect.Type) *element {
	found, ok := known.Load(t)
	if !ok {
		found, _ = known.LoadOrStore(t, &cached{key, newElement(t)})
	}
	c := found.(*cached)
	slot.Store(c)
	return c.element
}

func newElement(t reflect.Type) *element {
	e := &element{typ: t, size: int(t.Size()), name: t.String()}
	var d digest
	what := d.include(t)
	if what == "" && e.size == 0 {
		what = "it has no data"
	}
	if what != "" {
		e.err = fmt.Errorf("%v is %w: %s", t, ErrElement, what)
		return e
	}
	e.id = d.number()
	names.add(e.id, e.name)
	return e
}

// digest is the digest of a layout: of the kinds of numbers in it, in their order. It is that of
// one number if all are of one kind. Numbers change it by a linear map each; so it needs no list of
// them, and many alike are a power.
type digest struct {
	linear
	only  byte // the kind of all numbers; 0: none yet
	mixed bool
}

// linear is x → mul·x + add. The zero value changes nothing, as if mul were 1.
type linear struct{ mul1, add uint64 } // mul1 is mul less 1

func (f linear) then(g linear) linear {
	mul := g.mul1 + 1
	return linear{(f.mul1+1)*mul - 1, f.add*mul + g.add}
}

// times is f, n times in a row.
func (f linear) times(n int) (p linear) {
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			p = p.then(f)
		}
		f = f.then(f)
	}
	return p
}

// include adds a type. It returns what is wrong with it.
func (d *digest) include(t reflect.Type) (wrong string) {
	switch k := t.Kind(); k {
	case reflect.Bool, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		d.one(byte(k))
	case reflect.Int: // the same as that of its size
		d.one(byte(map[uintptr]reflect.Kind{4: reflect.Int32, 8: reflect.Int64}[t.Size()]))
	case reflect.Uint:
		d.one(byte(map[uintptr]reflect.Kind{4: reflect.Uint32, 8: reflect.Uint64}[t.Size()]))
	case reflect.Array:
		if t.Len() == 0 {
			return fmt.Sprintf("%v has no data", t)
		}
		one := digest{only: d.only, mixed: d.mixed}
		if wrong = one.include(t.Elem()); wrong == "" {
			d.linear, d.only, d.mixed = d.then(one.times(t.Len())), one.only, one.mixed
		}
	case reflect.Struct:
		end := uintptr(0)
		for f := range t.Fields() {
			switch {
			case f.Offset > end:
				return fmt.Sprintf("%d bytes of padding precede field %s of %v: fill them by a field with a name, or change the order", f.Offset-end, f.Name, t)
			case f.Name == "_":
				return fmt.Sprintf("the compiler needn't keep the blank field of %v: give it a name", t)
			}
			if wrong = d.include(f.Type); wrong != "" {
				if nested := f.Type.Kind() == reflect.Struct || f.Type.Kind() == reflect.Array; nested {
					return wrong
				}
				return fmt.Sprintf("field %s of %v %s", f.Name, t, strings.TrimPrefix(wrong, "it "))
			}
			end = f.Offset + f.Type.Size()
		}
		if end < t.Size() {
			return fmt.Sprintf("%d bytes of padding end %v: fill them by a field with a name, or change the order", t.Size()-end, t)
		}
	default:
		return fmt.Sprintf("it is %s, and not a number, a bool, or an array or struct of them", article(k))
	}
	return wrong
}

// article is what a value of a kind is called.
func article(k reflect.Kind) string {
	switch k {
	case reflect.Pointer:
		return "a pointer"
	case reflect.Interface:
		return "an interface"
	case reflect.UnsafePointer:
		return "an unsafe.Pointer"
	}
	return "a " + k.String()
}

// factor is odd, so that no digest is lost.
const factor = 0x9e3779b97f4a7c15

func (d *digest) one(kind byte) {
	d.linear = d.then(linear{factor - 1, uint64(kind)})
	d.mixed = d.mixed || d.only != 0 && d.only != kind
	d.only = kind
}

// number is the digest as messages have it.
func (d *digest) number() uint32 {
	if !d.mixed {
		return uint32(d.only)
	}
	const reserved = 64 // more than there are kinds
	return reserved + uint32(splitmix.Mix(d.linear.mul1^splitmix.Mix(d.linear.add))%(wire.MaxType-reserved))
}

// nameList has the names of the types of each number, for errors: several may have one layout.
type nameList struct {
	mu sync.Mutex
	of map[uint32][]string
}

var names nameList

func (l *nameList) add(id uint32, name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = map[uint32][]string{}
	}
	if !slices.Contains(l.of[id], name) {
		l.of[id] = append(l.of[id], name)
	}
}

// nameOf is what this process calls a type, "" if it has none like it.
func (l *nameList) nameOf(id uint32) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if id > 0 && id < uint32(reflect.Array) {
		return reflect.Kind(id).String() // not what a program calls it: it may have many names for one
	}
	return strings.Join(l.of[id], " or ")
}

// size is the length of one element in bytes.
func size[T Element]() int {
	var t T
	return int(unsafe.Sizeof(t))
}

// bytesOf is the memory of a slice. The caller holds the slice while the memory is used, so the
// garbage collector keeps it.
func bytesOf[T Element](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*size[T]())
}

// elementsOf is the opposite. b is memory of whole elements, aligned for them.
func elementsOf[T Element](b []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/size[T]())
}
