package campaign

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"banyan/internal/testing/explore"
)

// withParquet runs a spec, or the missing part of it, and makes the Parquet file.
func withParquet(t *testing.T, s *Spec, path string) {
	t.Helper()
	if err := s.Run(context.Background(), Journal(path), 2, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.WriteParquet(Journal(path), path, nil); err != nil {
		t.Fatal(err)
	}
}

// TestParquetIsTheCSV compares the two files row for row and column for column. The Parquet
// file is read by other code than wrote it.
func TestParquetIsTheCSV(t *testing.T) {
	for _, text := range []string{small, varied, nodes} {
		s := parse(t, text)
		path := filepath.Join(t.TempDir(), "results.parquet")
		withParquet(t, s, path)
		lines, err := csv.NewReader(strings.NewReader(read(t, Journal(path)))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		rows, err := parquet.ReadFile[Row](path)
		if err != nil || len(rows) != s.Total() || len(lines) != s.Total()+1 {
			t.Fatalf("%d rows and %d lines of %d: %v", len(rows), len(lines), s.Total(), err)
		}
		for i, r := range rows {
			got := texts(reflect.ValueOf(r))
			for j, name := range lines[0] {
				want := lines[i+1][j]
				switch {
				case name == "distance":
					left, right, unequal := strings.Cut(want, ":")
					if !unequal {
						right = left
					}
					if got["distance_left"] != left || got["distance_right"] != right {
						t.Fatalf("row %d: distances %s and %s, want %s", i, got["distance_left"], got["distance_right"], want)
					}
				case got[name] != strings.Trim(want, "-"):
					t.Fatalf("row %d: %s is %q, want %q", i, name, got[name], want)
				}
			}
			if len(got) != len(lines[0])+1 {
				t.Fatalf("%d columns for %d", len(got), len(lines[0]))
			}
		}
	}
}

// texts are the columns of a Row as text, nulls empty.
func texts(row reflect.Value) map[string]string {
	all := map[string]string{}
	for i := range row.NumField() {
		name, _, _ := strings.Cut(row.Type().Field(i).Tag.Get("parquet"), ",")
		v := row.Field(i)
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				all[name] = ""
				continue
			}
			v = v.Elem()
		}
		switch {
		case v.CanInt():
			all[name] = strconv.FormatInt(v.Int(), 10)
		case v.CanUint():
			all[name] = strconv.FormatUint(v.Uint(), 10)
		default:
			all[name] = v.String()
		}
	}
	return all
}

// TestParquetSchema checks, in the file, what other programs rely on: names, order, types, and
// which values may be missing.
func TestParquetSchema(t *testing.T) {
	s := parse(t, "runs: 1\nprocs: 8\n")
	path := filepath.Join(t.TempDir(), "results.parquet")
	withParquet(t, s, path)
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(file, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	want := `message Row {
	required int32 procs (INT(32,true));
	required int32 L (INT(32,true));
	required int32 o (INT(32,true));
	required binary tree (STRING);
	optional int32 k (INT(32,true));
	optional binary numbering (STRING);
	required binary correction (STRING);
	optional int32 distance_left (INT(32,true));
	optional int32 distance_right (INT(32,true));
	optional binary start (STRING);
	required int32 failed_count (INT(32,true));
	optional int64 gossip_time (INT(64,true));
	optional int32 gossip_rounds (INT(32,true));
	optional int32 delay (INT(32,true));
	optional int32 gap (INT(32,true));
	optional int32 node_size (INT(32,true));
	optional binary placement (STRING);
	optional int32 latency_within (INT(32,true));
	optional int32 noise (INT(32,true));
	required int32 failed_nodes (INT(32,true));
	required int32 crash_count (INT(32,true));
	required int64 run (INT(64,true));
	required int64 seed (INT(64,false));
	required int64 messages (INT(64,true));
	required int32 unreached (INT(32,true));
	required int64 coloring (INT(64,true));
	required int64 quiescence (INT(64,true));
	required int32 max_gap (INT(32,true));
	required int32 crashed (INT(32,true));
}`
	if got := f.Schema().String(); got != want {
		t.Errorf("the schema is\n%s", got)
	}
}

// TestParquetAfterAKill: whatever the journal, the Parquet file and the unfinished one contain,
// the same command makes of them what an undisturbed campaign makes.
func TestParquetAfterAKill(t *testing.T) {
	s := parse(t, "runs: 4\nprocs: 32\nfailed: [0, 1, 5]\n")
	path := filepath.Join(t.TempDir(), "results.parquet")
	withParquet(t, s, path)
	wantCSV, want := read(t, Journal(path)), read(t, path)
	again := func(what string) {
		t.Helper()
		withParquet(t, s, path)
		if read(t, path) != want || read(t, Journal(path)) != wantCSV {
			t.Fatalf("%s: something else comes out", what)
		}
	}
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for size := 0; size < len(wantCSV); size += 61 {
		write(Journal(path), wantCSV[:size])
		again(strconv.Itoa(size) + " bytes of the journal")
	}
	unfinished := filepath.Join(filepath.Dir(path), ".results.parquet.unfinished")
	random := rand.New(rand.NewPCG(1, 1))
	runs := 20
	if explore.Long() {
		runs = 2000
	}
	for run := range runs {
		journal, left := random.IntN(len(wantCSV)+1), random.IntN(len(want)+1)
		write(Journal(path), wantCSV[:journal])
		write(unfinished, want[:left])
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if random.IntN(2) == 0 {
			write(path, "something older")
		}
		again(fmt.Sprintf("run %d: %d bytes of the journal, %d of the unfinished file", run, journal, left))
	}
	if _, err := os.Stat(unfinished); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the unfinished file is left: %v", err)
	}
}

// TestParquetOfAPart: an incomplete campaign makes no Parquet file, and an earlier one stays.
func TestParquetOfAPart(t *testing.T) {
	s := parse(t, "runs: 4\nprocs: 32\n")
	path := filepath.Join(t.TempDir(), "results.parquet")
	all := results(t, s, 1)
	for file, text := range map[string]string{path: "old", Journal(path): all[:len(all)-3]} {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.WriteParquet(Journal(path), path, nil); !errors.Is(err, errIncomplete) {
		t.Error(err)
	}
	if read(t, path) != "old" {
		t.Error("the old file is gone")
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}
