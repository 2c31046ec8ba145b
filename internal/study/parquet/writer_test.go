package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"testing"

	"banyan/internal/testing/parquetread"
)

type row struct {
	Small    int32   `parquet:"small"`
	Large    int64   `parquet:"large"`
	Unsigned uint64  `parquet:"unsigned"`
	Text     string  `parquet:"text"`
	Word     string  `parquet:"word,dict"`
	MaySmall *int32  `parquet:"may_small,optional"`
	MayLarge *int64  `parquet:"may_large,optional"`
	MayWord  *string `parquet:"may_word,optional,dict"`
}

// random is a row whose optional fields are null in one of nulls cases.
func random(r *rand.Rand, words, nulls int) (x row) {
	x = row{
		Small: int32(r.Uint32()), Large: int64(r.Uint64()), Unsigned: r.Uint64(), Text: strconv.FormatUint(r.Uint64()>>r.IntN(64), 36)[1:],
		Word: fmt.Sprint("word ", r.IntN(words)),
	}
	if r.IntN(nulls) > 0 {
		n := int32(r.IntN(3) - 1)
		x.MaySmall = &n
	}
	if r.IntN(nulls) > 0 {
		n := int64(math.MinInt64) + r.Int64N(2)*math.MaxInt64
		x.MayLarge = &n
	}
	if r.IntN(nulls) > 0 {
		s := fmt.Sprint(r.IntN(words))
		x.MayWord = &s
	}
	return x
}

func written(t testing.TB, rows []row, limit int) []byte {
	t.Helper()
	var file bytes.Buffer
	w, err := NewWriter[row](&file, limit)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// texts are a column's values; a null is nil.
func texts(rows []row, field int) (all []*string) {
	for _, r := range rows {
		v := reflect.ValueOf(r).Field(field)
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				all = append(all, nil)
				continue
			}
			v = v.Elem()
		}
		s := fmt.Sprint(v.Interface())
		all = append(all, &s)
	}
	return all
}

// TestRead writes rows and reads them again, by other code.
func TestRead(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		rows := make([]row, r.IntN(1+r.IntN(300)))
		words, nulls := 1+r.IntN(1+r.IntN(300)), 1+r.IntN(4)
		for i := range rows {
			rows[i] = random(r, words, nulls)
			if i > 0 && r.IntN(3) > 0 {
				rows[i] = rows[i-1] // runs
			}
		}
		limit := 1 + r.IntN(400)
		file := written(t, rows, limit)
		f, err := parquetread.Read(file)
		if err != nil || f.Rows != len(rows) || f.Groups != (len(rows)+limit-1)/limit {
			t.Fatalf("seed %d: %d rows: %+v %v", seed, len(rows), f, err)
		}
		for i, c := range f.Columns {
			if want := texts(rows, i); len(want) > 0 && !reflect.DeepEqual(c.Values, want) {
				t.Fatalf("seed %d: column %s differs", seed, c.Name)
			}
		}
		if !bytes.Equal(written(t, rows, limit), file) {
			t.Fatalf("seed %d: the same rows give other bytes", seed)
		}
	}
}

// TestStatistics has the smallest and the largest value of each kind of column, and nulls.
func TestStatistics(t *testing.T) {
	low, high, word := int64(-5), int64(7), "x"
	rows := []row{
		{Small: -1, Large: 3, Unsigned: math.MaxUint64, Text: "é", Word: "b", MayLarge: &high},
		{Small: 1, Large: -3, Unsigned: 1, Text: "z", Word: "a", MayLarge: &low, MayWord: &word},
		{Small: 0, Large: 0, Unsigned: 2, Text: "", Word: "c"},
	}
	f, err := parquetread.Read(written(t, rows, 100))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][3]string{
		"small": {"-1", "1", "0"}, "large": {"-3", "3", "0"}, "unsigned": {"1", "18446744073709551615", "0"}, "text": {"", "é", "0"}, "word": {"a", "c", "0"},
		"may_small": {"", "", "3"}, "may_large": {"-5", "7", "1"}, "may_word": {"x", "x", "2"},
	}
	for _, c := range f.Columns {
		if got := [3]string{c.Min[0], c.Max[0], fmt.Sprint(c.Nulls[0])}; got != want[c.Name] {
			t.Errorf("%s: %q, want %q", c.Name, got, want[c.Name])
		}
	}
}

// TestSmall has the sizes of runs: what repeats takes no room.
func TestSmall(t *testing.T) {
	same := make([]uint32, 1<<16)
	if n := len(hybrid(nil, same, 1)); n != 4 {
		t.Errorf("%d bytes for one run", n)
	}
	for i := range same {
		same[i] = uint32(i % 2)
	}
	if n := len(hybrid(nil, same, 1)); n > len(same)/8+3 {
		t.Errorf("%d bytes for %d bits", n, len(same))
	}
}

// TestBadRows says which types have no columns.
func TestBadRows(t *testing.T) {
	for name, err := range map[string]error{
		"not a struct": bad[int](), "no tag": bad[struct{ A int32 }](), "float": bad[struct {
			A float64 `parquet:"a"`
		}](),
		"optional": bad[struct {
			A int32 `parquet:"a,optional"`
		}](),
		"option": bad[struct {
			A string `parquet:"a,small"`
		}](),
		"dictionary of numbers": bad[struct {
			A int32 `parquet:"a,dict"`
		}](),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func bad[T any]() error {
	_, err := NewWriter[T](&bytes.Buffer{}, 1)
	return err
}

// full takes so many bytes.
type full int

var errFull = errors.New("full")

func (f *full) Write(b []byte) (int, error) {
	if *f -= full(len(b)); *f < 0 {
		return 0, errFull
	}
	return len(b), nil
}

// TestFull: wherever the file below ends, Close or a call before it says so.
func TestFull(t *testing.T) {
	rows := make([]row, 10)
	size := len(written(t, rows, 4))
	for room := 0; room < size; room += 37 {
		f := full(room)
		w, err := NewWriter[row](&f, 4)
		for i := 0; err == nil && i < len(rows); i++ {
			err = w.Write(rows[i])
		}
		if err == nil {
			err = w.Close()
		}
		if !errors.Is(err, errFull) {
			t.Fatalf("room for %d of %d bytes: %v", room, size, err)
		}
	}
}
