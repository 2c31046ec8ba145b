package join

import (
	"errors"
	"strconv"
	"time"

	"banyan/internal/job/pmi"
	"banyan/internal/proto"
	"banyan/internal/runtime/transport/mesh"
)

// cardKey and a process's number are the key of its business card.
const cardKey = "banyan-card-"

// settleFactor times δ is how long a process must have excluded no other before it speaks for its
// side of a partition: one that finds the others silent one by one takes 2δ for each.
const settleFactor = 3

// reachFactor times δ, but at least leastReach, is how long a process tries to reach another one
// for the first time: as long as a bad link is borne later on (package detector).
const (
	reachFactor = 10
	leastReach  = 5 * time.Second
)

// network is how a process reaches the others of its job. Its zero value is that of a job of one.
type network struct {
	mesh       *mesh.Transport
	neighbours *neighbours
}

// open opens the transport, and lets the others know where this process is.
func (j *Job) open() (n network, err error) {
	tr, err := mesh.Listen(mesh.Config{
		Self: j.self, N: j.layout.Procs(), Secret: j.secret, Logger: j.log,
		Incarnation: j.incarnation(), Incarnations: j.replacement.all(),
		Host: j.address, Media: j.media, Sealing: j.sealing, Resolve: j.resolve, Settle: settleFactor * j.timeout,
		Reach: max(reachFactor*j.timeout, leastReach),
	})
	if err != nil {
		return n, err
	}
	if err := j.publish(tr.Card()); err != nil {
		tr.Close()
		return n, err
	}
	return network{tr, newNeighbours(tr.Card(), j.processHosts(), j.resolve)}, nil
}

// publish puts this process's business card, and waits until all processes have. The spare leader
// tells the others the card of a spare that has been given a slot.
func (j *Job) publish(card mesh.Card) error {
	if !j.isSpare() {
		if err := j.launcher.Put(cardKey+strconv.Itoa(int(j.self)), card.String()); err != nil {
			return err
		}
	}
	if j.replacement == nil {
		return j.launcher.Barrier()
	}
	return nil
}

// resolve finds another process's card. It is called when the card is first needed: by then every
// process that was alive has put one.
func (j *Job) resolve(p proto.Proc) (mesh.Card, error) {
	if card, is := j.supervisor.card(p); is {
		return card, nil
	}
	s, err := j.launcher.Get(cardKey + strconv.Itoa(int(p)))
	if errors.Is(err, pmi.ErrNoKey) {
		return mesh.Card{}, mesh.ErrNoCard
	}
	if err != nil {
		return mesh.Card{}, err
	}
	return mesh.ParseCard(s)
}

// fence tells a process that the job holds it for dead, as soon as it can be reached.
func (n *network) fence(p proto.Proc) {
	if n.mesh != nil {
		n.mesh.Tell(p)
	}
}
