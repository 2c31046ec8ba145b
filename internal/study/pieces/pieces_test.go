package pieces

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type settings struct {
	Seed uint64
	Runs int
}

// item is what a step computes here.
type item struct {
	Square int
	Texts  []string
}

func compute(_, i int) (item, error) { return item{i * i, []string{fmt.Sprint(i)}}, nil }

func open(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(dir, settings{1, 2}, "code")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func closeStore(t *testing.T, s *Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(text)
	}
	return all
}

func same(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for name := range a {
		if a[name] != b[name] {
			return false
		}
	}
	return true
}

// TestStoppedAnywhere: a step that is stopped again and again computes each item once, and ends
// with the same items and files as one that isn't.
func TestStoppedAnywhere(t *testing.T) {
	const n = 200
	whole := t.TempDir()
	s := open(t, whole)
	want, err := Each(t.Context(), s, "squares, of all", n, 2, nil, compute)
	if err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	dir := t.TempDir()
	var computed atomic.Int64
	for stops := 0; ; stops++ {
		s := open(t, dir)
		ctx, stop := context.WithCancel(t.Context())
		left := int64(rand.IntN(30))
		var first int
		got, err := Each(ctx, s, "squares, of all", n, 2, func(done int) {
			if first == 0 {
				first = done + 1
			}
		}, func(worker, i int) (item, error) {
			if computed.Add(1); atomic.AddInt64(&left, -1) == 0 {
				stop()
			}
			return compute(worker, i)
		})
		stop()
		closeStore(t, s)
		if err == nil {
			if len(got) != n || !slices.EqualFunc(got, want, func(a, b item) bool { return a.Square == b.Square && a.Texts[0] == b.Texts[0] }) {
				t.Fatalf("other items after %d stops", stops)
			}
			break
		}
		if !errors.Is(err, context.Canceled) || stops > n {
			t.Fatal(err)
		}
	}
	if computed.Load() != n {
		t.Errorf("%d items were computed for %d", computed.Load(), n)
	}
	if !same(content(t, dir), content(t, whole)) {
		t.Error("other files after stops")
	}
	s = open(t, dir)
	defer closeStore(t, s)
	if _, err := Each(t.Context(), s, "squares, of all", n, 2, nil, func(int, int) (item, error) { return item{}, errors.New("computed again") }); err != nil {
		t.Error(err)
	}
}

// TestWrittenAlong: pieces are there before the step ends, as a kill wants it.
func TestWrittenAlong(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	defer closeStore(t, s)
	s.interval = time.Millisecond
	_, err := Each(t.Context(), s, "slow", 2, 1, nil, func(_, i int) (int, error) {
		for i == 1 { // until a piece has the first
			if found, err := filepath.Glob(filepath.Join(dir, "slow-*.000000"+extension)); err != nil || len(found) > 0 {
				return i, err
			}
			time.Sleep(time.Millisecond)
		}
		return i, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if all := content(t, dir); len(all) != 2 {
		t.Errorf("%d files after the end, want the settings and one", len(all))
	}
}

// TestDamaged: whatever becomes of a file, the items are those of an undisturbed run.
func TestDamaged(t *testing.T) {
	for name, damage := range map[string]func(string) string{
		"empty": func(string) string { return "" },
		"cut":   func(text string) string { return text[:len(text)/2] },
		"zeros": func(text string) string { return text[:len(text)/2] + strings.Repeat("\x00", len(text)/2) },
		"a bit": func(text string) string {
			return text[:len(text)/2] + string(text[len(text)/2]^1) + text[len(text)/2+1:]
		},
		"unfinished": func(text string) string { return text },
	} {
		dir := t.TempDir()
		s := open(t, dir)
		if _, err := Each(t.Context(), s, "x", 30, 1, nil, compute); err != nil {
			t.Fatal(err)
		}
		closeStore(t, s)
		path := filepath.Join(dir, fileName("x")+extension)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		to := path
		if name == "unfinished" {
			to += unfinished
		}
		if err := os.WriteFile(to, []byte(damage(string(text))), 0o666); err != nil {
			t.Fatal(err)
		}
		s = open(t, dir)
		got, err := Each(t.Context(), s, "x", 30, 1, nil, compute)
		if err != nil || got[29].Square != 29*29 {
			t.Errorf("%s: %v (%v)", name, got, err)
		}
		closeStore(t, s)
		if all := content(t, dir); len(all) != 2 || all[filepath.Base(path)] != string(text) {
			t.Errorf("%s: other files", name)
		}
	}
}

// TestOthers: a directory with pieces of another computation is refused, with what differs, and
// so is one that another process uses. Steps of other names, or with other numbers of items, have
// nothing in common.
func TestOthers(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if _, err := Open(dir, settings{1, 2}, "code"); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("used twice: %v", err)
	}
	for _, of := range []struct {
		step string
		n    int
	}{{"a", 3}, {"a ", 3}, {"a", 4}} {
		computed := 0
		if _, err := Each(t.Context(), s, of.step, of.n, 1, nil, func(int, int) (int, error) { computed++; return 1, nil }); err != nil || computed != of.n {
			t.Errorf("%v: computed %d (%v)", of, computed, err)
		}
	}
	closeStore(t, s)
	if _, err := Open(dir, settings{2, 2}, "code"); !errors.Is(err, ErrOther) || !strings.Contains(err.Error(), "Seed is 1 there, and 2 here") {
		t.Errorf("another seed: %v", err)
	}
	if _, err := Open(dir, settings{1, 2}, "other code"); !errors.Is(err, ErrOther) || !strings.Contains(err.Error(), "another version") {
		t.Errorf("other code: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, identityName), []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, settings{1, 2}, "code"); !errors.Is(err, ErrOther) {
		t.Errorf("damaged settings: %v", err)
	}
}

// TestFailures: an item's error comes out, and what was finished is kept; without a store nothing
// is.
func TestFailures(t *testing.T) {
	wrong := errors.New("wrong")
	fails := func(_, i int) (int, error) {
		if i == 3 {
			return 0, wrong
		}
		return i, nil
	}
	s := open(t, t.TempDir())
	defer closeStore(t, s)
	for _, store := range []*Store{s, nil} {
		if _, err := Each(t.Context(), store, "x", 5, 1, nil, fails); !errors.Is(err, wrong) {
			t.Errorf("%v", err)
		}
		first := -1
		if _, err := Each(t.Context(), store, "x", 5, 1, func(done int) {
			if first < 0 {
				first = done
			}
		}, compute1); err != nil || store != nil && first != 3 {
			t.Errorf("%d are kept (%v)", first, err)
		}
	}
	if v, err := Once(t.Context(), s, "one", func() (string, error) { return "v", nil }); err != nil || v != "v" {
		t.Errorf("%q, %v", v, err)
	}
	if v, err := Once(t.Context(), s, "one", func() (string, error) { return "", wrong }); err != nil || v != "v" {
		t.Errorf("again: %q, %v", v, err)
	}
	if _, err := Each(t.Context(), s, "nothing", 0, 1, nil, compute); err != nil {
		t.Error(err)
	}
}

func compute1(_, i int) (int, error) { return i, nil }
