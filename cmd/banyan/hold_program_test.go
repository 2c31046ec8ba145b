package main

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// hold keeps rounds of a program from beginning before enough files are in a directory:
// HEALER_HOLD is "DIRECTORY ROUND COUNT", with more pairs of ROUND and COUNT if need be. A
// replacement puts a file there when it has its state, and scripts may put some. So scripts needn't
// guess how long it takes until a replica is replaced.
type hold struct {
	directory string
	counts    map[int]int // by round
	begun     time.Time   // the present wait; zero: there is none
}

// holdLimit bounds a wait.
const holdLimit = 30 * time.Second

func newHold() (h hold) {
	words := strings.Fields(os.Getenv("HEALER_HOLD"))
	if len(words) == 0 {
		return h
	}
	h.directory, h.counts = words[0], make(map[int]int)
	for i := 1; i < len(words); i += 2 {
		round, err := strconv.Atoi(words[i])
		if err == nil {
			h.counts[round], err = strconv.Atoi(words[i+1])
		}
		if err != nil {
			panic(err)
		}
	}
	if err := os.MkdirAll(h.directory, 0o755); err != nil {
		panic(err)
	}
	return h
}

// restored says that this process has taken the place of a dead one.
func (h *hold) restored() {
	if h.directory == "" {
		return
	}
	f, err := os.CreateTemp(h.directory, "restored")
	if err != nil {
		panic(err)
	}
	f.Close()
}

// waits says whether a round mustn't begin yet, after a moment in which that may change.
func (h *hold) waits(round int) bool {
	count := h.counts[round]
	if count == 0 {
		return false
	}
	if h.begun.IsZero() {
		h.begun = time.Now()
	}
	if files, _ := os.ReadDir(h.directory); len(files) >= count || time.Since(h.begun) > holdLimit {
		h.begun = time.Time{}
		return false
	}
	time.Sleep(5 * time.Millisecond)
	return true
}
