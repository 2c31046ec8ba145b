package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// deaths are those of a program's own processes, each in a certain round and once: HEALER_DIE is
// "DIRECTORY PROCESS:ROUND", with more pairs if need be, ":stop" behind one that only stops, and
// ":tell" behind one that only shows, by its file, how far the program is. They come when the
// program is so far, however busy the machine is; a planned fault with a time does nothing to a
// process that is just being replaced. The directory keeps which have been.
type deaths struct {
	directory string
	signals   map[int]syscall.Signal // of this process, by round
}

func newDeaths() (d deaths) {
	words := strings.Fields(os.Getenv("HEALER_DIE"))
	if len(words) == 0 {
		return d
	}
	d.directory, d.signals = words[0], make(map[int]syscall.Signal)
	if err := os.MkdirAll(d.directory, 0o755); err != nil {
		panic(err)
	}
	for _, word := range words[1:] {
		process, text, _ := strings.Cut(word, ":")
		text, what, _ := strings.Cut(text, ":")
		round, err := strconv.Atoi(text)
		switch {
		case err != nil:
			panic(err)
		case process != os.Getenv("PMI_RANK"):
		case what == "stop":
			d.signals[round] = syscall.SIGSTOP
		case what == "tell":
			d.signals[round] = 0 // reaches nobody
		default:
			d.signals[round] = syscall.SIGKILL
		}
	}
	return d
}

// strike ends or stops this process if it is planned for a round and hasn't been.
func (d *deaths) strike(round int) {
	signal, planned := d.signals[round]
	if !planned {
		return
	}
	mark, err := os.OpenFile(filepath.Join(d.directory, fmt.Sprintf("%s-%d", os.Getenv("PMI_RANK"), round)), os.O_CREATE|os.O_EXCL, 0o600)
	if os.IsExist(err) {
		return // before the job went back
	}
	if err != nil {
		panic(err)
	}
	mark.Close()
	syscall.Kill(os.Getpid(), signal)
}
