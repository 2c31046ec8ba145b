package pieces

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// piece is the content of a file: some items of a step.
type piece[T any] struct {
	Digest string `json:"digest"`
	Step   string `json:"step"`
	Of     int    `json:"of"`              // how many items the step has
	Which  []int  `json:"which,omitempty"` // their numbers; none: all of the step
	Items  []T    `json:"items"`
}

// extension ends the names of pieces.
const extension = ".json.gz"

// fileName is a step's name as that of a file, which no other step has.
func fileName(step string) string {
	h := fnv.New64a()
	_, _ = io.WriteString(h, step) // a hash takes everything
	var b strings.Builder
	for _, r := range strings.ToLower(step) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	const longest = 60
	name := strings.Trim(b.String()[:min(b.Len(), longest)], "-")
	return fmt.Sprintf("%s-%08x", name, uint32(h.Sum64()>>32))
}

// load reads what is kept of the step, and tells which items those are.
func (k *kept[T]) load() (known []bool, err error) {
	known = make([]bool, k.of)
	whole := filepath.Join(k.store.dir, k.name+extension)
	if err := k.read(whole, known); err != nil {
		return nil, err
	}
	k.complete = k.of > 0 && known[0] // it has all or none
	all, err := filepath.Glob(filepath.Join(k.store.dir, k.name+".*"+extension))
	if err != nil {
		return nil, err
	}
	for _, path := range all {
		number := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), k.name+"."), extension)
		if n, err := strconv.Atoi(number); err == nil {
			k.next = max(k.next, n+1)
		}
		if !k.complete {
			if err := k.read(path, known); err != nil {
				return nil, err
			}
		}
	}
	k.pieces = all
	if k.complete {
		return known, k.removePieces() // a kill left them
	}
	return known, nil
}

// read reads the items of a file, if it is there. One that is damaged, or of another step, has
// none.
func (k *kept[T]) read(path string, known []bool) error {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	p, err := decode[T](content)
	if err != nil || p.Digest != k.store.digest || p.Step != k.step || p.Of != k.of || p.Which == nil && len(p.Items) != k.of || p.Which != nil && len(p.Which) != len(p.Items) {
		return nil
	}
	for j, item := range p.Items {
		i := j
		if p.Which != nil {
			i = p.Which[j]
		}
		if i >= 0 && i < k.of {
			k.items[i], known[i] = item, true
		}
	}
	return nil
}

// flush writes a piece with what is finished, if anything is.
func (k *kept[T]) flush() {
	k.mutex.Lock()
	which := k.pending
	k.pending = nil
	items := make([]T, len(which))
	for j, i := range which {
		items[j] = k.items[i]
	}
	failed := k.failed
	k.mutex.Unlock()
	if len(which) == 0 || failed != nil {
		return
	}
	name := fmt.Sprintf("%s.%06d%s", k.name, k.next, extension)
	k.next++
	err := k.write(name, which, items)
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if err != nil {
		k.failed = err
		return
	}
	k.pieces = append(k.pieces, filepath.Join(k.store.dir, name))
}

// finish merges all pieces.
func (k *kept[T]) finish() error {
	if k.of == 0 {
		return nil
	}
	if err := k.write(k.name+extension, nil, k.items); err != nil {
		return err
	}
	return k.removePieces()
}

func (k *kept[T]) removePieces() error {
	var err error
	for _, path := range k.pieces {
		err = errors.Join(err, os.Remove(path))
	}
	k.pieces = nil
	return err
}

func (k *kept[T]) write(name string, which []int, items []T) error {
	content, err := encode(piece[T]{k.store.digest, k.step, k.of, which, items})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return k.store.write(name, content)
}

func encode[T any](p piece[T]) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	err := errors.Join(json.NewEncoder(z).Encode(p), z.Close())
	return b.Bytes(), err
}

// decode fails for a file that isn't whole: the compression has a checksum.
func decode[T any](content []byte) (p piece[T], err error) {
	z, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return p, err
	}
	text, err := io.ReadAll(z)
	if err != nil {
		return p, err
	}
	return p, json.Unmarshal(text, &p)
}
