package binding

import "unsafe"

// plain are the sizes in bytes of the predefined types whose elements lie one after another, by
// handle. The size of all others is 0. Most messages have such a type, and then the type's
// object isn't needed.
type plain [256]uint8

const firstDatatype = DatatypeNull

func (p *Process) plainTypes() (sizes plain) {
	for i := range sizes {
		o := p.datatype(firstDatatype + Datatype(i))
		if o == nil || !o.committed.Load() {
			continue
		}
		size, _ := o.Bytes(1)
		two, _ := o.Bytes(2)
		if first, contiguous := o.Contiguous(2); contiguous && first == 0 && two == 2*size && size < 256 {
			sizes[i] = uint8(size)
		}
	}
	return sizes
}

// bytes is the message in a buffer of a plain type. It returns false if the arguments need more
// checks.
func (s *plain) bytes(buf unsafe.Pointer, count int64, datatype Datatype) ([]byte, bool) {
	i := datatype - firstDatatype
	if i >= Datatype(len(s)) || s[i] == 0 || uint64(count)-1 >= maxData/256 || special(buf) {
		return nil, false
	}
	return unsafe.Slice((*byte)(buf), count*int64(s[i])), true
}
