package starter

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
)

// A word is what a follower says to whatever has started it, a line of stdout that begins with
// mark.
type word struct {
	Kind   kind   `json:"kind"`
	Number int    `json:"number,omitempty"` // of the agent that it is about; hello has none
	Text   string `json:"text,omitempty"`
	Final  bool   `json:"final,omitempty"` // of failed: another attempt would have the same end
}

type kind string

const (
	hello  kind = "hello"  // the follower waits for its order
	ready  kind = "ready"  // the agent begins
	failed kind = "failed" // the agent can't begin, or has ended; the text says why
	line   kind = "line"   // an agent of the branch has written the text to stderr
)

// mark begins a follower's word, so that what a login shell prints isn't taken for one.
const mark = "\x1ebanyan "

// speaker says words. Several goroutines may use it.
type speaker struct {
	mu sync.Mutex
	to io.Writer
}

func (s *speaker) say(w word) error {
	text, err := json.Marshal(w)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err = s.to.Write(append(append([]byte(mark), text...), '\n'))
	return err
}

// parseWord reads a line. It returns false if the line is no word.
func parseWord(text string) (w word, ok bool) {
	text, ok = strings.CutPrefix(text, mark)
	ok = ok && json.Unmarshal([]byte(text), &w) == nil
	return w, ok
}

// maxLine is how long a line of a follower may be. What is longer comes in pieces.
const maxLine = 1 << 20

// eachLine calls f for each line of r, until r ends.
func eachLine(r io.Reader, f func(text string)) {
	lines := bufio.NewReaderSize(r, 64<<10)
	var whole []byte
	for {
		piece, err := lines.ReadSlice('\n')
		whole = append(whole, piece...)
		if errors.Is(err, bufio.ErrBufferFull) && len(whole) < maxLine {
			continue
		}
		if text := strings.TrimRight(string(whole), "\r\n"); text != "" {
			f(text)
		}
		whole = whole[:0]
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}
