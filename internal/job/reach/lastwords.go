package reach

import (
	"strings"
	"sync"
)

// LastWords keeps the end of what a command says on stderr, to tell why it failed.
type LastWords struct {
	mu   sync.Mutex
	text []byte
}

// Write implements io.Writer.
func (w *LastWords) Write(b []byte) (int, error) {
	const kept = 1000
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.text = append(w.text, b...); len(w.text) > kept {
		w.text = w.text[len(w.text)-kept:]
	}
	return len(b), nil
}

// String is what was said as one line, without this program's name.
func (w *LastWords) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(strings.Fields(strings.ReplaceAll(string(w.text), "banyan:", "")), " ")
}
