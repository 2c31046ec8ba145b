package launcher

import "bytes"

// tailsKept bounds what the launcher keeps of the tails of all replicas, in bytes.
const tailsKept = 4 << 20

// tails are what replicas have written of their ranks' streams, and wasn't shown for good. A
// replacement begins where its donor's output ended, and what its rank had written before is then
// with the agents of other replicas. If their hosts die together with the launcher, nobody has it
// but the state: there the replacement's slot has the tail that its donor had. positions locks it.
type tails struct {
	on   bool // the job keeps its state, and replaces dead replicas
	size int  // of all
}

// wrote notes what was read of a replica's stream. If that is too much the tail is given up.
func (t *tails) wrote(k *kept, b []byte, shown int64) {
	k.at += int64(len(b))
	if !t.on {
		return
	}
	if t.size+len(b) > tailsKept {
		t.size -= len(k.tail)
		k.tail = nil
		return
	}
	t.size += len(b)
	k.tail = append(k.tail, b...)
	t.trim(k, shown)
}

// trim drops what was shown.
func (t *tails) trim(k *kept, shown int64) {
	if n := min(shown-(k.at-int64(len(k.tail))), int64(len(k.tail))); n > 0 {
		t.size -= int(n)
		k.tail = append(k.tail[:0], k.tail[n:]...)
	}
}

// tail is what isn't shown of what a process has written, up to a byte of its rank's stream.
func (p *positions) tail(rank int, x *process, stderr bool, to int64) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, k := range p.streams[rank][index(stderr)].kept {
		if from := k.at - int64(len(k.tail)); k.of == x && from < to && to <= k.at {
			return bytes.Clone(k.tail[:to-from])
		}
	}
	return nil
}

// tailing passes on what is read of a replica's stream, and notes it.
type tailing struct {
	p    *positions
	s    *position
	k    *kept
	from interface{ Read([]byte) (int, error) }
}

func (t *tailing) Read(b []byte) (int, error) {
	n, err := t.from.Read(b)
	t.p.mu.Lock()
	defer t.p.mu.Unlock()
	t.p.tails.wrote(t.k, b[:n], t.s.shown)
	return n, err
}

// tails are those of a process that began behind others: what wasn't shown of the streams before
// it.
func (o *outputs) tails(p *process) (tails [2][]byte) {
	rank, _ := o.slot(p.id)
	for i := range tails {
		if p.base[i] > 0 {
			tails[i] = o.positions.tail(rank, p, i == 1, p.base[i])
		}
	}
	return tails
}
