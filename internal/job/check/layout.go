package check

import (
	"cmp"
	"debug/dwarf"
	"slices"
)

// layout is how the values of a struct lie in memory.
type layout struct {
	name string
	size int
	used []bool // by byte: it belongs to a member
}

// excuses tells whether all that differs in some calls is padding, if they send values of the
// struct one after another.
func (l *layout) excuses(calls []spots) bool {
	for _, s := range calls {
		if s.length == 0 || s.length%l.size != 0 || slices.ContainsFunc(s.offsets, func(at int) bool { return l.used[at%l.size] }) {
			return false
		}
	}
	return true
}

// maxStruct bounds the size of a struct that is looked at, in bytes.
const maxStruct = 1 << 16

// layouts are the structs with padding that a program's debugging information has, the small ones
// first.
func layouts(d *dwarf.Data) (all []layout) {
	r := d.Reader()
	for {
		e, err := r.Next()
		if err != nil || e == nil {
			break
		}
		if e.Tag != dwarf.TagStructType && e.Tag != dwarf.TagClassType {
			continue
		}
		t, err := d.Type(e.Offset)
		s, ok := t.(*dwarf.StructType)
		if err != nil || !ok || s.Incomplete || s.StructName == "" || s.ByteSize <= 0 || s.ByteSize > maxStruct || derived(d, e) {
			continue
		}
		l := layout{s.StructName, int(s.ByteSize), make([]bool, s.ByteSize)}
		if mark(l.used, s, 0) && slices.Contains(l.used, false) {
			all = append(all, l)
		}
	}
	slices.SortStableFunc(all, func(a, b layout) int { return cmp.Compare(a.size, b.size) })
	return all
}

// derived tells whether a class has a base, whose members package dwarf doesn't list.
func derived(d *dwarf.Data, e *dwarf.Entry) bool {
	if !e.Children {
		return false
	}
	r := d.Reader()
	r.Seek(e.Offset)
	if _, err := r.Next(); err != nil {
		return true
	}
	for {
		child, err := r.Next()
		if err != nil || child == nil || child.Tag == 0 {
			return err != nil
		}
		if child.Tag == dwarf.TagInheritance {
			return true
		}
		r.SkipChildren()
	}
}

// mark marks the bytes of a type that belong to values, and returns false if that isn't known.
func mark(used []bool, t dwarf.Type, at int64) bool {
	switch t := t.(type) {
	case *dwarf.TypedefType:
		return mark(used, t.Type, at)
	case *dwarf.QualType:
		return mark(used, t.Type, at)
	case *dwarf.ArrayType:
		size := t.Type.Size()
		for i := range t.Count {
			if size <= 0 || !mark(used, t.Type, at+i*size) {
				return false
			}
		}
		return t.Count >= 0
	case *dwarf.StructType:
		if t.Incomplete || t.Kind == "class" { // it may have a base
			return false
		}
		for _, f := range t.Field {
			offset := f.ByteOffset
			if f.BitSize > 0 {
				offset = f.DataBitOffset / 8
				for b := offset; b <= (f.DataBitOffset+f.BitSize-1)/8; b++ {
					if at+b >= int64(len(used)) {
						return false
					}
					used[at+b] = true
				}
				continue
			}
			if !mark(used, f.Type, at+offset) {
				return false
			}
		}
		return true
	}
	for b := at; b < at+t.Size(); b++ {
		if b >= int64(len(used)) {
			return false
		}
		used[b] = true
	}
	return t.Size() > 0
}
