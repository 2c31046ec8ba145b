package pieces

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// format is the version of the files. Files of another one are refused.
const format = 1

// Interval is how often what is finished is written.
const Interval = 10 * time.Second

// Store is a directory of pieces. A nil Store keeps nothing.
type Store struct {
	dir      string
	digest   string
	interval time.Duration
	lock     *os.File // the directory
}

// ErrOther says that a directory has pieces of another computation.
var ErrOther = errors.New("has results of another computation: remove it, or choose another directory")

// identity is the file that says whose pieces a directory has.
type identity struct {
	Format   int             `json:"format"`
	Digest   string          `json:"digest"`
	Settings json.RawMessage `json:"settings"`
}

const identityName = "settings.json"

// Exists tells whether a directory has pieces, or had them.
func Exists(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, identityName))
	return err == nil
}

// Open opens a directory of pieces, and makes it if it isn't there. settings determine the
// results, and code stands for what the program makes of them: they are kept as JSON, and a
// directory of others is refused with [ErrOther].
func Open(dir string, settings any, code string) (s *Store, err error) {
	text, err := json.Marshal(settings)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\n%s\n%s", format, text, code))
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	s = &Store{dir: dir, digest: hex.EncodeToString(sum[:16]), interval: Interval}
	if s.lock, err = lock(dir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	return s, s.identify(text)
}

// lock keeps other processes off a directory.
func lock(dir string) (*os.File, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(d.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: another process is writing there (%w)", dir, err), d.Close())
	}
	return d, nil
}

// identify checks whose pieces these are. An empty directory becomes ours.
func (s *Store) identify(settings json.RawMessage) error {
	path := filepath.Join(s.dir, identityName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		text, err := json.Marshal(identity{format, s.digest, settings})
		if err != nil {
			return err
		}
		return s.write(identityName, append(text, '\n'))
	}
	if err != nil {
		return err
	}
	var have identity
	switch err := json.Unmarshal(text, &have); {
	case err != nil:
		return fmt.Errorf("%s: %w: it can't be read: %v", path, ErrOther, err)
	case have.Digest == s.digest:
		return s.sweep()
	case !bytes.Equal(have.Settings, settings):
		return fmt.Errorf("%s: %w: %s", s.dir, ErrOther, difference(have.Settings, settings))
	}
	return fmt.Errorf("%s: %w: with these settings, but by another version of this program", s.dir, ErrOther)
}

// difference names the first setting that differs.
func difference(have, want json.RawMessage) string {
	var a, b map[string]json.RawMessage
	if json.Unmarshal(have, &a) == nil && json.Unmarshal(want, &b) == nil {
		var texts []string
		for _, name := range slices.Sorted(maps.Keys(b)) {
			if !bytes.Equal(a[name], b[name]) {
				texts = append(texts, fmt.Sprintf("%s is %s there, and %s here", name, a[name], b[name]))
			}
		}
		if len(texts) > 0 {
			return strings.Join(texts, "; ")
		}
	}
	return "with other settings"
}

// sweep removes what a kill has left half written.
func (s *Store) sweep() error {
	left, err := filepath.Glob(filepath.Join(s.dir, "*"+unfinished))
	for _, path := range left {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// unfinished ends the name of a file that isn't whole yet.
const unfinished = ".unfinished"

// write writes a file so that it is there whole or not at all, also after a loss of power.
func (s *Store) write(name string, content []byte) error {
	path := filepath.Join(s.dir, name)
	file, err := os.Create(path + unfinished)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(err, os.Remove(path+unfinished))
	}
	if err := os.Rename(path+unfinished, path); err != nil {
		return err
	}
	return s.lock.Sync() // the directory's entry
}

// Discard closes the store, and removes the directory.
func (s *Store) Discard() error {
	if s == nil {
		return nil
	}
	return errors.Join(os.RemoveAll(s.dir), s.Close())
}

// Close lets others use the directory.
func (s *Store) Close() error {
	if s == nil {
		return nil
	}
	return s.lock.Close()
}
