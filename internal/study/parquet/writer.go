package parquet

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"reflect"
)

// magic is at both ends of a file.
const magic = "PAR1"

// codec is gzip's number.
const codec = 2

// Writer writes a file of rows of type T.
type Writer[T any] struct {
	out     io.Writer
	err     error // the first
	at      int64 // bytes written
	columns []column
	name    string
	limit   int // rows of a row group
	rows    int64
	waiting []T // the rows of the next row group
	groups  []group

	packer *gzip.Writer
	packed bytes.Buffer
}

// group is what the index says of a row group.
type group struct {
	rows              int
	at                int64
	bytes, compressed int64
	chunks            []chunk
}

// chunk is a column in a row group.
type chunk struct {
	dictionary, data  int64 // where the pages are; dictionary may be 0
	values            int
	bytes, compressed int64
	nulls             int
	smallest, largest string
	bounded           bool
}

// NewWriter begins a file. limit is the number of rows in a row group, which wait in memory.
func NewWriter[T any](out io.Writer, limit int) (*Writer[T], error) {
	row := reflect.TypeFor[T]()
	all, err := columns(row)
	if err != nil {
		return nil, err
	}
	w := &Writer[T]{out: out, columns: all, name: row.Name(), limit: max(1, limit)}
	w.packer = gzip.NewWriter(&w.packed)
	w.write([]byte(magic))
	return w, w.err
}

// Write adds a row.
func (w *Writer[T]) Write(row T) error {
	w.waiting = append(w.waiting, row)
	if len(w.waiting) == w.limit {
		w.flush()
	}
	return w.err
}

// Close writes the rows that wait and the index. It doesn't close what is below.
func (w *Writer[T]) Close() error {
	if len(w.waiting) > 0 {
		w.flush()
	}
	index := w.index()
	w.write(index)
	w.write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(index))), magic...))
	return w.err
}

func (w *Writer[T]) write(b []byte) {
	if w.err != nil {
		return
	}
	n, err := w.out.Write(b)
	w.at += int64(n)
	w.err = err
}

// flush writes a row group.
func (w *Writer[T]) flush() {
	g := group{rows: len(w.waiting), at: w.at}
	rows := reflect.ValueOf(w.waiting)
	for i := range w.columns {
		c := &w.columns[i]
		var v values
		for row := range w.waiting {
			v.take(c, rows.Index(row).Field(c.field))
		}
		x := w.chunk(c, &v)
		g.bytes += x.bytes
		g.compressed += x.compressed
		g.chunks = append(g.chunks, x)
	}
	w.rows += int64(g.rows)
	w.groups = append(w.groups, g)
	clear(w.waiting)
	w.waiting = w.waiting[:0]
}

// chunk writes a column's pages.
func (w *Writer[T]) chunk(c *column, v *values) chunk {
	x := chunk{values: len(w.waiting), nulls: v.nulls}
	x.smallest, x.largest, x.bounded = v.bounds(c)
	data, dictionary, count := v.page(c)
	how := plain
	if c.dictionary {
		how = dictionaryRuns
		x.dictionary = w.at
		w.page(&x, dictionary, func(t *thrift) {
			t.field(pageDictionary, structure)
			t.begin()
			t.i32(headerValues, int64(count))
			t.i32(headerEncoding, int64(plain))
			t.end()
		})
	}
	x.data = w.at
	w.page(&x, data, func(t *thrift) {
		t.field(pageData, structure)
		t.begin()
		t.i32(headerValues, int64(x.values))
		t.i32(headerEncoding, int64(how))
		t.i32(headerDefinition, int64(hybridRuns))
		t.i32(headerRepetition, int64(hybridRuns))
		t.end()
	})
	return x
}

// page writes a page with its header, of which rest writes the part that its kind has.
func (w *Writer[T]) page(x *chunk, body []byte, rest func(t *thrift)) {
	w.packed.Reset()
	w.packer.Reset(&w.packed)
	_, _ = w.packer.Write(body) // into memory
	_ = w.packer.Close()
	var t thrift
	t.begin()
	kind := int64(0) // data
	if x.data == 0 {
		kind = 2 // a dictionary
	}
	t.i32(pageType, kind)
	t.i32(pageBytes, int64(len(body)))
	t.i32(pageCompressed, int64(w.packed.Len()))
	rest(&t)
	t.end()
	w.write(t.out)
	w.write(w.packed.Bytes())
	x.bytes += int64(len(t.out) + len(body))
	x.compressed += int64(len(t.out) + w.packed.Len())
}

// index is the end of a file, but for its length.
func (w *Writer[T]) index() []byte {
	var t thrift
	t.begin()
	t.i32(fileVersion, 1)
	writeSchema(&t, w.name, w.columns)
	t.i64(fileRows, w.rows)
	t.list(fileGroups, structure, len(w.groups))
	for i := range w.groups {
		w.indexGroup(&t, &w.groups[i])
	}
	t.text(fileCreator, "banyan")
	t.list(fileOrders, structure, len(w.columns))
	for range w.columns {
		t.begin()
		t.field(orderByType, structure)
		t.begin()
		t.end()
		t.end()
	}
	t.end()
	return t.out
}

func (w *Writer[T]) indexGroup(t *thrift, g *group) {
	t.begin()
	t.list(groupColumns, structure, len(g.chunks))
	for i := range g.chunks {
		c, x := &w.columns[i], &g.chunks[i]
		t.begin()
		t.i64(chunkOffset, 0) // deprecated, and required
		t.field(chunkMeta, structure)
		t.begin()
		t.i32(metaType, int64(c.physical()))
		used := []encoding{plain, hybridRuns}
		if c.dictionary {
			used = append(used, dictionaryRuns)
		}
		t.list(metaEncodings, int32Wire, len(used))
		for _, e := range used {
			t.out = binary.AppendVarint(t.out, int64(e))
		}
		t.list(metaPath, binaryOne, 1)
		t.element(c.name)
		t.i32(metaCodec, codec)
		t.i64(metaValues, int64(x.values))
		t.i64(metaBytes, x.bytes)
		t.i64(metaCompressed, x.compressed)
		t.i64(metaData, x.data)
		if c.dictionary {
			t.i64(metaDictionary, x.dictionary)
		}
		t.field(metaStatistics, structure)
		t.begin()
		t.i64(statNulls, int64(x.nulls))
		if x.bounded {
			t.text(statMax, x.largest)
			t.text(statMin, x.smallest)
		}
		t.end()
		t.end()
		t.end()
	}
	t.i64(groupBytes, g.bytes)
	t.i64(groupRows, int64(g.rows))
	t.i64(groupOffset, g.at)
	t.i64(groupCompressed, g.compressed)
	t.end()
}
