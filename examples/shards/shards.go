package main

import (
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"syscall"

	"banyan/group"
)

// shards is how many there are.
const shards = 64

// ownerOf is the member that owns a shard in a view, by rendezvous hashing: a change of the view
// moves only the shards of the members that come or go. It is "" if the view has no members.
func ownerOf(v *group.View, shard int) (owner string) {
	highest := uint64(0)
	for _, m := range v.Members {
		h := fnv.New64a()
		fmt.Fprintf(h, "%s %d", m.Name, shard)
		// FNV's high bits hardly depend on the last bytes: spread them.
		if x := (h.Sum64() ^ h.Sum64()>>29) * 0xbf58476d1ce4e5b9; owner == "" || x > highest {
			owner, highest = m.Name, x
		}
	}
	return owner
}

// owned are the shards that a member owns in a view.
func owned(v *group.View, name string) (list []int) {
	for shard := range shards {
		if ownerOf(v, shard) == name {
			list = append(list, shard)
		}
	}
	return list
}

// store is a directory with a file for each shard: the highest token that has written, and the
// last writer. It stands for a database that compares tokens.
type store struct{ directory string }

var errLate = errors.New("a later view has written to this shard")

// write writes to a shard, unless a higher token has.
func (s *store) write(shard int, token uint64, name string) error {
	if err := os.MkdirAll(s.directory, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(s.path(shard), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close() // which unlocks it
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	var last uint64
	var by string
	if n, _ := fmt.Fscan(f, &last, &by); n == 2 && token < last {
		return fmt.Errorf("shard %d: token %d of %s after %d of %s: %w", shard, token, name, last, by, errLate)
	}
	_, err = f.WriteAt(fmt.Appendf(nil, "%20d %-64s\n", token, name), 0)
	return err
}

// read says who has written to a shard last.
func (s *store) read(shard int) (token uint64, name string, err error) {
	content, err := os.ReadFile(s.path(shard))
	if err == nil {
		_, err = fmt.Sscan(string(content), &token, &name)
	}
	return token, name, err
}

func (s *store) path(shard int) string {
	return filepath.Join(s.directory, fmt.Sprintf("shard-%02d", shard))
}
