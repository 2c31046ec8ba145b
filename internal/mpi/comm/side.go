package comm

import "encoding/binary"

// Side is one side of a connection (connection.Group): a communicator, whose root leads.
type Side struct {
	Comm *Comm
	Root int
}

// Rank, Size and Leads implement connection.Group.
func (g Side) Rank() int   { return g.Comm.Rank() }
func (g Side) Size() int   { return g.Comm.Size() }
func (g Side) Leads() bool { return g.Comm.Rank() == g.Root }

// Spread implements connection.Group.
func (g Side) Spread(own []byte) ([]byte, error) {
	var length [8]byte
	binary.LittleEndian.PutUint64(length[:], uint64(len(own)))
	if err := g.Comm.Bcast(length[:], g.Root).Run(); err != nil {
		return nil, err
	}
	if !g.Leads() {
		own = make([]byte, binary.LittleEndian.Uint64(length[:]))
	}
	return own, g.Comm.Bcast(own, g.Root).Run()
}

// collected bounds what a process of a side says of itself.
const collected = 4 << 10

// Collect implements connection.Group.
func (g Side) Collect(own []byte) ([][]byte, error) {
	if len(own) > collected-4 {
		own = nil // the leader can't read it
	}
	send := make([]byte, collected)
	binary.LittleEndian.PutUint32(send, uint32(len(own)))
	copy(send[4:], own)
	var recv []byte
	if g.Leads() {
		recv = make([]byte, collected*g.Size())
	}
	if err := g.Comm.Gather(send, recv, g.Root).Run(); err != nil || recv == nil {
		return nil, err
	}
	all := make([][]byte, g.Size())
	for i := range all {
		b := recv[i*collected : (i+1)*collected]
		all[i] = b[4 : 4+binary.LittleEndian.Uint32(b)]
	}
	return all, nil
}
