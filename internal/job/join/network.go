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
// tells the others the card of a spare that has been given a slot. Under our launcher it compares
// the processes' entries, too, and keeps the cards of those that this process will soon connect to:
// to ask for them here takes no further wait.
func (j *Job) publish(card mesh.Card) error {
	ask := j.launcher.Batch()
	if !j.isSpare() {
		ask.Put(cardOf(j.self), card.String())
	}
	if j.replacement == nil {
		if j.made {
			ask.Put(entryOf(j.launcher.Rank()), ","+j.common())
		}
		ask.Barrier()
	}
	if !j.made {
		return ask.Ask()
	}
	var first string
	ask.Get(entryOf(0), &first)
	keep := j.cards.ask(j.self, j.layout.Procs(), j.replacement.isGone, ask)
	if err := ask.Ask(); err != nil {
		return err
	}
	keep()
	var err error
	if first == "" {
		_, err = compareEntries(j.launcher, j.layout.Procs(), j.settings)
	} else {
		_, err = compareEntry(first, 0, j.launcher.Rank(), j.settings)
	}
	return err
}

func cardOf(p proto.Proc) string { return cardKey + strconv.Itoa(int(p)) }

// resolve finds another process's card. It is called when the card is first needed: by then every
// process that was alive has put one.
func (j *Job) resolve(p proto.Proc) (mesh.Card, error) {
	if card, is := j.supervisor.card(p); is {
		return card, nil
	}
	if text := j.cards.take(p); text != "" {
		return mesh.ParseCard(text)
	}
	s, err := j.launcher.Get(cardOf(p))
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
