// Package parquetread reads Parquet files in tests: flat ones, of one page a column and row group,
// compressed with gzip. It shares no code with package parquet, which writes them, and knows the
// format from the same source (https://parquet.apache.org/docs/file-format/, parquet.thrift).
// deploy/formats compares it with a complete library.
//
// A file that it can't read is an error, never a panic.
package parquetread

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// File is a file's content.
type File struct {
	Columns []Column
	Rows    int
	Groups  int // row groups
}

// Column is a column with its values as text; a null is nil.
type Column struct {
	Name     string
	Type     string // as tools show it: "required int32 (INT(32,true))"
	Values   []*string
	Min, Max []string // of each row group, as text; empty if there are only nulls
	Nulls    []int    // of each row group
}

// errFormat is a file that isn't as it should be.
var errFormat = errors.New("not a Parquet file of this kind")

// Read reads a file.
func Read(file []byte) (f *File, err error) {
	defer func() { // the index is full of offsets; each that is wrong ends here
		if problem := recover(); problem != nil {
			f, err = nil, fmt.Errorf("%w: %v", errFormat, problem)
		}
	}()
	end := len(file) - 8
	if string(file[:4]) != "PAR1" || string(file[end+4:]) != "PAR1" {
		return nil, errFormat
	}
	size := int(binary.LittleEndian.Uint32(file[end:]))
	index := newStructure(file[end-size : end])
	f = &File{Rows: index.number(3)}
	elements := index.structures(2)
	for _, e := range elements[1:] {
		f.Columns = append(f.Columns, Column{Name: e.text(4), Type: typeOf(e)})
	}
	if n := elements[0].number(5); n != len(f.Columns) {
		return nil, fmt.Errorf("%w: %d columns of %d", errFormat, len(f.Columns), n)
	}
	if n := len(index.structures(7)); n != len(f.Columns) {
		return nil, fmt.Errorf("%w: orders of %d columns", errFormat, n)
	}
	for _, group := range index.structures(4) {
		f.Groups++
		chunks := group.structures(1)
		if len(chunks) != len(f.Columns) {
			return nil, fmt.Errorf("%w: %d columns in a row group", errFormat, len(chunks))
		}
		for i, c := range chunks {
			if err := f.Columns[i].read(file, c.structure(3), elements[1+i]); err != nil {
				return nil, fmt.Errorf("column %s: %w", f.Columns[i].Name, err)
			}
		}
	}
	for _, c := range f.Columns {
		if len(c.Values) != f.Rows {
			return nil, fmt.Errorf("%w: %d values of %s", errFormat, len(c.Values), c.Name)
		}
	}
	return f, nil
}

func typeOf(e fields) string {
	repetition := []string{"required", "optional"}[e.number(3)]
	stored := map[int]string{1: "int32", 2: "int64", 6: "binary"}[e.number(1)]
	logical := e.structure(10)
	if _, text := logical[1]; text {
		return repetition + " " + stored + " (STRING)"
	}
	whole := logical.structure(10)
	return fmt.Sprintf("%s %s (INT(%d,%v))", repetition, stored, whole.number(1), whole[2])
}

// value is a stored value as text.
func value(b []byte, e fields) string {
	signed := true
	if whole, is := e.structure(10)[10].(fields); is {
		signed = whole[2].(bool)
	}
	switch {
	case e.number(1) == 6:
		return string(b)
	case e.number(1) == 1:
		return strconv.Itoa(int(int32(binary.LittleEndian.Uint32(b))))
	case signed:
		return strconv.FormatInt(int64(binary.LittleEndian.Uint64(b)), 10)
	default:
		return strconv.FormatUint(binary.LittleEndian.Uint64(b), 10)
	}
}

// plain takes the first of plain values.
func plain(b []byte, e fields) (first string, rest []byte) {
	n := map[int]int{1: 4, 2: 8}[e.number(1)]
	if n == 0 {
		n = int(binary.LittleEndian.Uint32(b))
		b = b[4:]
	}
	return value(b[:n], e), b[n:]
}

// read adds the values of a row group.
func (c *Column) read(file []byte, meta, element fields) error {
	if meta.number(4) != 2 {
		return fmt.Errorf("%w: not gzip", errFormat)
	}
	var dictionary []string
	if _, has := meta[11]; has {
		head, body, err := page(file[meta.number(11):])
		if err != nil || head.number(1) != 2 {
			return errors.Join(errFormat, err)
		}
		for range head.structure(7).number(1) {
			var s string
			s, body = plain(body, element)
			dictionary = append(dictionary, s)
		}
		if len(body) > 0 {
			return fmt.Errorf("%w: more in the dictionary", errFormat)
		}
	}
	head, body, err := page(file[meta.number(9):])
	if err != nil || head.number(1) != 0 {
		return errors.Join(errFormat, err)
	}
	data := head.structure(5)
	rows := data.number(1)
	if rows != meta.number(5) {
		return fmt.Errorf("%w: %d values of %d", errFormat, rows, meta.number(5))
	}
	levels, there := make([]int, 0, rows), rows
	if element.number(3) == 1 {
		size := binary.LittleEndian.Uint32(body)
		levels = hybrid(body[4:4+size], 1, rows)
		body = body[4+size:]
		there = 0
		for _, l := range levels {
			there += l
		}
	}
	var all []string
	switch data.number(2) {
	case 0:
		for range there {
			var s string
			s, body = plain(body, element)
			all = append(all, s)
		}
		if len(body) > 0 {
			return fmt.Errorf("%w: more in the page", errFormat)
		}
	case 8:
		for _, i := range hybrid(body[1:], int(body[0]), there) {
			all = append(all, dictionary[i])
		}
	default:
		return fmt.Errorf("%w: encoding %d", errFormat, data.number(2))
	}
	for i := range rows {
		if len(levels) > 0 && levels[i] == 0 {
			c.Values = append(c.Values, nil)
			continue
		}
		c.Values = append(c.Values, &all[0])
		all = all[1:]
	}
	statistics := meta.structure(12)
	c.Nulls = append(c.Nulls, statistics.number(3))
	low, high := "", ""
	if b, is := statistics[6].([]byte); is {
		low, high = value(b, element), value(statistics[5].([]byte), element)
	}
	c.Min, c.Max = append(c.Min, low), append(c.Max, high)
	return nil
}

// page reads a page with its header.
func page(b []byte) (head fields, body []byte, err error) {
	d := decoder{b}
	head = d.structure()
	in, err := gzip.NewReader(bytes.NewReader(d.b[:head.number(3)]))
	if err != nil {
		return nil, nil, err
	}
	if body, err = io.ReadAll(in); err == nil && len(body) != head.number(2) {
		err = errors.New("a page has another size")
	}
	return head, body, err
}

// hybrid reads n numbers of some bits.
func hybrid(b []byte, width, n int) (all []int) {
	for len(all) < n {
		head, used := binary.Uvarint(b)
		if used <= 0 {
			panic("runs end early")
		}
		b = b[used:]
		if head&1 == 0 {
			number, wide := 0, (width+7)/8
			for i := range wide {
				number |= int(b[i]) << (8 * i)
			}
			b = b[wide:]
			for range head >> 1 {
				all = append(all, number)
			}
			continue
		}
		for i := range int(head>>1) * 8 {
			number := 0
			for bit := range width {
				at := i*width + bit
				number |= int(b[at/8]>>(at%8)&1) << bit
			}
			all = append(all, number)
		}
		b = b[int(head>>1)*width:]
	}
	return all[:n]
}
