package group

import (
	"context"
	"time"

	"banyan/internal/groupnode"
	"banyan/internal/groupnode/store"
)

// Epochs numbers the foundings of a group. A group is founded anew after a total outage, and only
// what outlives the outage can know the number of the last founding. [FileEpochs] keeps it in a
// file. A service that has etcd, Consul or a database keeps it there: the version of a key, an
// index, or a row.
//
//	UPDATE epochs SET n = n + 1 WHERE name = 'shards' RETURNING n
//
// Without Epochs the founder takes the time of its clock. Then tokens rise as long as a founder's
// clock isn't behind the founding before, by its founder's clock.
type Epochs interface {
	// Next returns a number that is higher than all that it has returned before, to any process:
	// from 1 to 4,294,967,295. It is called once for each founding.
	Next(ctx context.Context) (uint64, error)
}

// EpochsFunc is a function that is an Epochs.
type EpochsFunc func(ctx context.Context) (uint64, error)

// Next calls f.
func (f EpochsFunc) Next(ctx context.Context) (uint64, error) { return f(ctx) }

// FileEpochs keeps the number in a file, which is made when it is first used. All processes that
// may found the group must see the same file; the file system must have locks and lasting renames,
// as local ones and NFS have. Numbers aren't lower than the seconds since 2020, so a group that
// has relied on the clock may take a file later.
func FileEpochs(path string) Epochs {
	return EpochsFunc(func(ctx context.Context) (uint64, error) {
		return store.NextEpoch(ctx, path, groupnode.ClockEpoch(time.Now()))
	})
}
