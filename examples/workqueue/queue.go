package main

import (
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"

	"banyan/group"
)

// queue is a directory. It has a file in todo for each task, and a file in done for each result.
type queue struct{ directory string }

func openQueue(directory string) (*queue, error) {
	q := &queue{directory}
	return q, errors.Join(os.MkdirAll(q.path("todo", ""), 0o755), os.MkdirAll(q.path("done", ""), 0o755))
}

func (q *queue) path(state, task string) string { return filepath.Join(q.directory, state, task) }

// add makes n tasks.
func (q *queue) add(n int) error {
	for i := range n {
		if err := os.WriteFile(q.path("todo", fmt.Sprintf("%04d", i)), nil, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// tasks returns the tasks that aren't done, in order.
func (q *queue) tasks() (list []string, err error) {
	entries, err := os.ReadDir(q.path("todo", ""))
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list, err
}

// errDoneAlready says that another worker did the task first.
var errDoneAlready = errors.New("done already")

// done stores the result of a task. While a view spreads, two workers may both take a task for
// theirs, and a worker that was taken for dead may not know it yet. So done stores the result by a
// step at which only one of them succeeds.
func (q *queue) done(task, by string) error {
	f, err := os.CreateTemp(q.directory, "result-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = fmt.Fprintln(f, by)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	err = os.Link(f.Name(), q.path("done", task))
	if err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	already := err != nil
	if err := os.Remove(q.path("todo", task)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if already {
		return errDoneAlready
	}
	return nil
}

// share is a worker's part of the tasks in a view.
func share(tasks []string, v group.View, worker string) (mine []string) {
	for _, t := range tasks {
		if owner(t, v) == worker {
			mine = append(mine, t)
		}
	}
	return mine
}

// owner is the member that does a task: the one whose name, hashed with the task, gives the highest
// value. All members of a view agree on it, and when a member goes, only its own tasks move.
func owner(task string, v group.View) (name string) {
	best := uint64(0)
	for _, m := range v.Members {
		h := fnv.New64a()
		fmt.Fprintf(h, "%s %s", m.Name, task)
		if w := mix(h.Sum64()); name == "" || w > best {
			name, best = m.Name, w
		}
	}
	return name
}

// mix spreads a hash of short strings over all bits.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
