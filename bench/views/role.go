package views

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"banyan/bench/processes"
	"banyan/mpi"
)

// Words of a process's row in the table.
const (
	wordPid       = iota
	wordMembers   // of its last view
	wordInstalled // when it had that
	wordNumber    // of that; written last
	rowWords
)

var errRole = errors.New("want the path of a table, its rows and what to do")

// Perform is what a process of a job does. args is the rest of the command line that Plan.Role
// begins.
// It returns only for an error in that.
func Perform(args []string) error {
	if len(args) != 3 || !slices.Contains(Programs, Program(args[2])) {
		return errRole
	}
	rows, err := strconv.Atoi(args[1])
	if err != nil {
		return errRole
	}
	t, err := processes.OpenTable(args[0], rows*rowWords)
	if err != nil {
		return fmt.Errorf("the table: %w", err)
	}
	row, err := strconv.Atoi(os.Getenv("PMI_RANK"))
	if err != nil || row < 0 || row >= rows {
		return errors.New("this is a part of banyan bench views, which starts it when needed")
	}
	word := func(w int) *atomic.Int64 { return t.Word(row*rowWords + w) }
	mpi.Main(func(w *mpi.Comm) error {
		if err := w.Barrier(); err != nil { // all are up then
			return err
		}
		if Program(args[2]) == Connected {
			if err := connect(w); err != nil {
				return err
			}
		}
		go perform(w, Program(args[2]))
		word(wordPid).Store(int64(os.Getpid()))
		for v := range w.Views(context.Background()) { // until the job is ended
			word(wordMembers).Store(int64(len(v.Members)))
			word(wordInstalled).Store(processes.Monotonic())
			word(wordNumber).Store(int64(v.Number))
		}
		return nil
	}, mpi.SurviveRankLoss())
	return nil
}

// connect has each process send each other one a message. A process makes a connection when it
// sends the first.
func connect(w *mpi.Comm) error {
	in, out := []int64{0}, []int64{0}
	for d := 1; d < w.Size(); d++ {
		to, from := (w.Rank()+d)%w.Size(), (w.Rank()+w.Size()-d)%w.Size()
		if _, err := mpi.Sendrecv(w, out, to, 0, in, from, 0); err != nil {
			return err
		}
	}
	return nil
}

// perform is the program. It never ends: the bench ends the job.
func perform(w *mpi.Comm, p Program) {
	switch p {
	case Computing:
		for x := uint64(1); ; x = x*6364136223846793005 + 1 {
			if x == 0 {
				return // it never is
			}
		}
	case Messages:
		partner := w.Rank() ^ 1
		in, out := []int64{0}, []int64{0}
		for partner < w.Size() {
			if _, err := mpi.Sendrecv(w, out, partner, 0, in, partner, 0); err != nil {
				break // the partner is dead: this one waits from now on
			}
			out[0]++
		}
	}
	for {
		time.Sleep(time.Hour)
	}
}
