package parquet

import (
	"encoding/binary"
	"math/bits"
	"reflect"
	"strings"
)

// encoding is how a page's values are written. The numbers are the format's.
type encoding int64

const (
	plain          encoding = 0
	hybridRuns     encoding = 3
	dictionaryRuns encoding = 8
)

// values are a column's part of a row group, without nulls.
type values struct {
	numbers []uint64 // or
	texts   []string
	levels  []uint32 // of each row: 0 is null; nil if the column isn't optional
	nulls   int
}

// take adds a field's value.
func (v *values) take(c *column, x reflect.Value) {
	if c.optional {
		if x.IsNil() {
			v.levels = append(v.levels, 0)
			v.nulls++
			return
		}
		v.levels = append(v.levels, 1)
		x = x.Elem()
	}
	switch {
	case c.kind == reflect.String:
		v.texts = append(v.texts, x.String())
	case c.kind == reflect.Uint64:
		v.numbers = append(v.numbers, x.Uint())
	default:
		v.numbers = append(v.numbers, uint64(x.Int()))
	}
}

// appendNumber and appendText are the plain encoding.
func appendNumber(dst []byte, c *column, n uint64) []byte {
	if c.kind == reflect.Int32 {
		return binary.LittleEndian.AppendUint32(dst, uint32(n))
	}
	return binary.LittleEndian.AppendUint64(dst, n)
}

func appendText(dst []byte, s string) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(s)))
	return append(dst, s...)
}

// smallest and largest are statistics as the index has them; ok is false if there are no values.
func (v *values) bounds(c *column) (smallest, largest string, ok bool) {
	if c.kind == reflect.String {
		for i, s := range v.texts {
			if i == 0 || s < smallest {
				smallest = s
			}
			if i == 0 || s > largest {
				largest = s
			}
		}
		return smallest, largest, len(v.texts) > 0
	}
	if len(v.numbers) == 0 {
		return "", "", false
	}
	less := func(a, b uint64) bool { return int64(a) < int64(b) }
	if c.kind == reflect.Uint64 {
		less = func(a, b uint64) bool { return a < b }
	}
	low, high := v.numbers[0], v.numbers[0]
	for _, n := range v.numbers {
		if less(n, low) {
			low = n
		}
		if less(high, n) {
			high = n
		}
	}
	return string(appendNumber(nil, c, low)), string(appendNumber(nil, c, high)), true
}

// page is the body of a data page, and of a dictionary's page with count entries.
func (v *values) page(c *column) (data, dictionary []byte, count int) {
	if c.optional {
		data = hybrid(make([]byte, 4), v.levels, 1)
		binary.LittleEndian.PutUint32(data, uint32(len(data)-4))
	}
	if !c.dictionary {
		for _, n := range v.numbers {
			data = appendNumber(data, c, n)
		}
		for _, s := range v.texts {
			data = appendText(data, s)
		}
		return data, nil, 0
	}
	known := map[string]uint32{}
	indices := make([]uint32, len(v.texts))
	for i, s := range v.texts {
		index, is := known[s]
		if !is {
			index = uint32(len(known))
			known[strings.Clone(s)] = index
			dictionary = appendText(dictionary, s)
		}
		indices[i] = index
	}
	width := max(1, bits.Len(uint(max(1, len(known))-1)))
	return hybrid(append(data, byte(width)), indices, width), dictionary, len(known)
}

// hybrid appends numbers of some bits as runs: of one number, again and again, or of numbers that
// are packed, eight after eight.
func hybrid(dst []byte, numbers []uint32, width int) []byte {
	const group = 8
	for i := 0; i < len(numbers); {
		if n := repeated(numbers[i:], len(numbers)); n >= group || i+n == len(numbers) {
			dst = binary.AppendUvarint(dst, uint64(n)<<1)
			for shift := 0; shift < width; shift += 8 {
				dst = append(dst, byte(numbers[i]>>shift))
			}
			i += n
			continue
		}
		end := i
		for end < len(numbers) && repeated(numbers[end:], group) < group {
			end += group
		}
		dst = binary.AppendUvarint(dst, uint64((end-i)/group)<<1|1)
		packed, have := uint64(0), 0
		for ; i < end; i++ {
			if i < len(numbers) { // the last eight are filled up
				packed |= uint64(numbers[i]) << have
			}
			for have += width; have >= 8; have -= 8 {
				dst = append(dst, byte(packed))
				packed >>= 8
			}
		}
	}
	return dst
}

// repeated is how often the first number comes in a row, at most limit times.
func repeated(numbers []uint32, limit int) int {
	n := 1
	for n < min(len(numbers), limit) && numbers[n] == numbers[0] {
		n++
	}
	return n
}
