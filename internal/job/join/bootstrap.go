package join

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"banyan/internal/job/env"
	"banyan/internal/job/pmi"
	"banyan/internal/proto"
	"banyan/internal/runtime/engine"
	"banyan/internal/runtime/transport/mesh"
)

const (
	secretKey = "banyan-secret-"
	cardKey   = "banyan-card-"
)

// bootstrap asks PMI for what a process must know of its job before it can be part of it. It does so
// once: a spare that is given a place knows it already.
func (j *Job) bootstrap() (err error) {
	if j.secret != nil {
		return nil
	}
	// A replacement finds the secret there.
	if j.replacement == nil {
		if err := j.putSecret(); err != nil {
			return err
		}
	}
	if j.secret, err = j.findSecret(); err != nil {
		return err
	}
	hosts, err := j.pmi.Hosts()
	if err != nil {
		j.log.Warn("the ring of heartbeats isn't ordered by host", "reason", err)
	}
	if j.address, err = listenAddress(hosts); err != nil {
		return err
	}
	if hosts != nil {
		j.hosts = hosts[:j.layout.Procs()]
	}
	j.program, err = j.pmi.Program()
	return err
}

// putSecret puts an entry for the job's secret, and waits until all have.
func (j *Job) putSecret() error {
	var own [32]byte
	rand.Read(own[:])
	if err := j.pmi.Put(secretKey+strconv.Itoa(int(j.station)), hex.EncodeToString(own[:])+","+j.medium()); err != nil {
		return err
	}
	return j.pmi.Barrier()
}

// medium is what this process goes by where ranks choose algorithms for one host or for several: all must have the same.
func (j *Job) medium() string {
	if j.media == mesh.Sockets {
		return "sockets"
	}
	return "shared-memory"
}

// findSecret finds the entry that counts, and compares what it says with what this process goes by.
func (j *Job) findSecret() ([]byte, error) {
	for p := range j.layout.Procs() + j.spares {
		entry, err := j.pmi.Get(secretKey + strconv.Itoa(p))
		if errors.Is(err, pmi.ErrNoKey) {
			continue // died before it put one
		}
		if err != nil {
			return nil, err
		}
		secret, medium, _ := strings.Cut(entry, ",")
		if medium != j.medium() {
			return nil, fmt.Errorf("%s differs: process %d of the job goes by %s, and process %d by %s; it must be the same for all",
				env.Transport, p, medium, j.station, j.medium())
		}
		return hex.DecodeString(secret)
	}
	return nil, errors.New("no process has put a secret")
}

// connect opens the transport and starts the engine.
func (j *Job) connect(cfg engine.Config) error {
	if err := j.bootstrap(); err != nil {
		return err
	}
	cfg.Process.Hosts = j.hosts
	var err error
	if cfg.Oversubscribed, err = j.oversubscribed(); err != nil {
		return err
	}
	cfg.Agreed = os.Getenv(env.Cores) != "" && !j.layout.Replicated()
	cfg.Process.SharedMemory = j.media != mesh.Sockets
	tr, err := mesh.Listen(mesh.Config{
		Self: j.self, N: j.layout.Procs(), Secret: j.secret, Logger: j.log,
		Incarnation: j.replacement.of(j.self), Incarnations: j.replacement.all(),
		Host: j.address, Media: j.media, Resolve: j.resolve, Settle: settleFactor * time.Duration(cfg.Process.Timeout),
	})
	if err != nil {
		return err
	}
	if j.spareLeader == nil { // else it tells the others
		err = j.pmi.Put(cardKey+strconv.Itoa(int(j.self)), tr.Card().String())
	}
	if err == nil && j.replacement == nil {
		err = j.pmi.Barrier()
	}
	if err != nil {
		tr.Close()
		return err
	}
	j.mesh = tr
	j.silent = &neighbours{
		card: tr.Card(), near: j.near, resolve: j.resolve, known: make(map[proto.Proc]*neighbour),
	}
	cfg.Starved = j.silent.starved
	j.Engine = engine.New(cfg, tr)
	if j.spares > 0 && j.spareLeader == nil {
		return j.findSpareLeader(nil)
	}
	return nil
}

// resolve finds another process's card. It is called when first needed: everybody
// who lived has put one by then.
func (j *Job) resolve(p proto.Proc) (mesh.Card, error) {
	if card, is := j.facts.address(p); is {
		return card, nil
	}
	s, err := j.pmi.Get(cardKey + strconv.Itoa(int(p)))
	if errors.Is(err, pmi.ErrNoKey) {
		return mesh.Card{}, mesh.ErrNoCard
	}
	if err != nil {
		return mesh.Card{}, err
	}
	return mesh.ParseCard(s)
}
