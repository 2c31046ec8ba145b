package rma

import (
	"encoding/binary"
	"unsafe"

	"banyan/internal/mpi/comm"
)

// In a job with replicas the program of a target carries out what others ask of its part, at the
// end of the epoch: it receives from named ranks, in the order of ranks, as many messages as each
// has sent. So each replica does the same, and what it answers is sent in the same order.

// postTag is the tag of what MPI_Win_post tells.
const postTag = 1<<31 - 1

// fenceReplicas carries out what the others have asked of this rank's part since the last fence,
// and waits for what this rank has asked of them.
func (w *Window) fenceReplicas() error {
	counts, err := w.fenceCounts()
	if err != nil {
		return err
	}
	return w.applyCounted(counts)
}

// fenceCounts tells all how many accesses there are, and is how many each member has asked of this
// rank.
func (w *Window) fenceCounts() ([]uint32, error) {
	n := w.comm.Size()
	own, all := make([]byte, 4*n), make([]byte, 4*n)
	w.mu.Lock()
	for r := range w.to {
		binary.LittleEndian.PutUint32(own[4*r:], uint32(w.to[r].count))
		w.to[r].count = 0
	}
	w.mu.Unlock()
	if err := w.comm.Alltoall(own, all, 4).Run(); err != nil {
		return nil, err
	}
	counts := make([]uint32, n)
	for r := range counts {
		counts[r] = binary.LittleEndian.Uint32(all[4*r:])
	}
	return counts, nil
}

// applyCounted carries so many accesses of each member out, and waits for this rank's own.
func (w *Window) applyCounted(counts []uint32) error {
	var answers []comm.Pending
	var wrongs error
	for r, n := range counts {
		for range n {
			_, answer, err := w.applyNext(r)
			if err != nil {
				return err
			}
			if !answer.Ended() {
				answers = append(answers, answer)
			}
		}
		if text := w.target.wrong[r]; text != "" {
			delete(w.target.wrong, r)
			wrongs = either(wrongs, wrong(ErrRange, "rank %d has asked for an access that was refused: %s", r, text))
		}
	}
	err := w.finish(w.everyone(), true)
	for _, a := range answers {
		_, failed := a.Wait()
		err = either(err, failed)
	}
	return either(err, wrongs)
}

// applyNext receives the next message of an origin, and carries it out.
func (w *Window) applyNext(rank int) (v verb, answer comm.Pending, err error) {
	found, err := w.comm.Mprobe(rank, w.deferredTag())
	if err != nil {
		return 0, answer, err
	}
	data := make([]byte, found.Status().Bytes)
	if _, err := found.Recv(data); err != nil {
		return 0, answer, err
	}
	t := &w.target
	u := &under{how: byCopies}
	var base unsafe.Pointer
	text := ""
	m := &u.message
	if err := m.read(data); err != nil {
		text = err.Error()
	} else if !m.verb.moves() {
		return m.verb, answer, nil
	} else {
		u.all, _ = m.bytes()
		base, text = t.find(&m.place)
	}
	if text != "" {
		if t.wrong[rank] == "" {
			t.wrong[rank] = text
		}
	} else {
		if u.base = base; m.verb.answers() {
			u.old = make([]byte, u.all)
		}
		u.whole()
	}
	if m.verb.answers() {
		answer, err = w.comm.Isend(u.old, rank, int(m.answer))
	}
	return m.verb, answer, err
}

// deferredTag is the tag of accesses that the target's program carries out.
func (w *Window) deferredTag() int {
	if w.led {
		return fenceTag
	}
	return comm.HeardTag
}

// tellReplicas tells a rank that this one's part is exposed to it.
func (w *Window) tellReplicas(rank int) error { return w.comm.Send(nil, rank, postTag) }

// awaitPostOfReplicas waits for that.
func (w *Window) awaitPostOfReplicas(rank int) error {
	_, err := w.comm.Recv(nil, rank, postTag)
	return err
}

// applyUntilComplete carries out what an origin has asked for, until it has called Complete.
func (w *Window) applyUntilComplete(rank int) error {
	for {
		v, _, err := w.applyNext(rank)
		if err != nil {
			return err
		}
		if v == completed {
			text := w.target.wrong[rank]
			if delete(w.target.wrong, rank); text != "" {
				return wrong(ErrRange, "rank %d has asked for an access that was refused: %s", rank, text)
			}
			return nil
		}
	}
}
