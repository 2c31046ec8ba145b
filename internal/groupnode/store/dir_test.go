package store

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// What was written is there at the next start, which is counted; a power cut in the middle of
// writing leaves the old record.
func TestDir(t *testing.T) {
	path := filepath.Join(t.TempDir(), "some", "where")
	d, r, err := OpenDir(path, ID{1})
	if err != nil || r.Node != (ID{1}) || r.Starts != 1 {
		t.Fatal(r, err)
	}
	if _, _, err := OpenDir(path, ID{2}); !errors.Is(err, ErrInUse) {
		t.Error("open twice:", err)
	}
	r.View = &View{Number: 3, Members: []Member{{Name: "anna", Address: "there:1", Node: ID{1}}, {Name: "bert", Address: "there:2"}}}
	if err := d.Write(r); err != nil {
		t.Fatal(err)
	}
	d.Close()
	if err := os.WriteFile(filepath.Join(path, "group.json.new"), []byte("{\"Form"), 0o600); err != nil {
		t.Fatal(err)
	}
	d, again, err := OpenDir(path, ID{2})
	if r.Starts++; err != nil || !reflect.DeepEqual(again, r) {
		t.Errorf("%+v, want %+v: %v", again, r, err)
	}
	d.Close()
}

// A damaged record is an error, never a new identity.
func TestDamagedDir(t *testing.T) {
	for _, content := range []string{"", "{}", "{\"Format\":2,\"Node\":\"01000000000000000000000000000000\"}", "{\"Format\":1,\"Node\":\"01\"}", "{\"Format\":1,\"Extra\":1}"} {
		path := t.TempDir()
		if err := os.WriteFile(filepath.Join(path, "group.json"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, r, err := OpenDir(path, ID{2}); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%q: %+v, %v", content, r, err)
		}
	}
}
