package join

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"banyan/internal/job/env"
	"banyan/internal/job/pmi"
	"banyan/internal/runtime/seal"
	"banyan/internal/runtime/transport/mesh"
)

// secretKey and the rank in the launcher's eyes are the key of a process's entry for the job's
// secret.
const secretKey = "banyan-secret-"

// wireup is what PMI tells a process that it must know before it can connect to others.
type wireup struct {
	secret  []byte  // the job's
	address string  // where this process is reached
	hosts   []int32 // of each process, nil if unknown
	program int     // which of the job's programs this process runs, from 0; -1 if unknown
}

// wireUp asks PMI. All processes that were started together call it; it has a barrier.
func wireUp(launcher *pmi.Client, id identity, own settings, log *slog.Logger) (w wireup, err error) {
	if id.replacement == nil { // a replacement finds the secret there
		if err := putSecret(launcher, own); err != nil {
			return w, err
		}
	}
	if w.secret, err = findSecret(launcher, id.layout.Procs()+id.spares, own); err != nil {
		return w, err
	}
	hosts, err := launcher.Hosts()
	if err != nil {
		log.Warn("the ring of heartbeats isn't ordered by host", "reason", err)
	}
	if w.address, err = listenAddress(hosts); err != nil {
		return w, err
	}
	if hosts != nil {
		w.hosts = hosts[:id.layout.Procs()]
	}
	w.program, err = launcher.Program()
	return w, err
}

// putSecret puts an entry for the job's secret, and waits until all processes have.
func putSecret(launcher *pmi.Client, own settings) error {
	var secret [32]byte
	rand.Read(secret[:])
	entry := hex.EncodeToString(secret[:]) + "," + medium(own.media) + "," + encryption(own.sealing) + "," + env.FormatBcast(own.scheme)
	if err := launcher.Put(secretKey+strconv.Itoa(launcher.Rank()), entry); err != nil {
		return err
	}
	return launcher.Barrier()
}

// findSecret finds the entry that counts: that of the lowest process that has put one. It
// compares the medium of that process, its encryption and its scheme of broadcasts with this one's.
func findSecret(launcher *pmi.Client, procs int, own settings) ([]byte, error) {
	for p := range procs {
		entry, err := launcher.Get(secretKey + strconv.Itoa(p))
		if errors.Is(err, pmi.ErrNoKey) {
			continue // the process died before it put one
		}
		if err != nil {
			return nil, err
		}
		secret, theirs, _ := strings.Cut(entry, ",")
		media, theirs, _ := strings.Cut(theirs, ",")
		sealing, scheme, _ := strings.Cut(theirs, ",")
		for _, x := range [][3]string{
			{env.Transport, media, medium(own.media)}, {env.Encrypt, sealing, encryption(own.sealing)}, {env.Bcast, scheme, env.FormatBcast(own.scheme)},
		} {
			if x[1] != x[2] {
				return nil, fmt.Errorf("%s differs: process %d of the job goes by %s, and process %d by %s; it must be the same for all",
					x[0], p, x[1], launcher.Rank(), x[2])
			}
		}
		return hex.DecodeString(secret)
	}
	return nil, errors.New("no process has put a secret")
}

// medium says by what messages go where ranks choose algorithms for one host or for several. All
// processes must have the same.
func medium(media mesh.Media) string {
	if media == mesh.Sockets {
		return "sockets"
	}
	return "shared-memory"
}

// encryption says which connections are encrypted. All processes must have the same.
func encryption(p seal.Policy) string {
	return [...]string{seal.None: env.EncryptNone, seal.Hosts: env.EncryptHosts, seal.TCP: env.EncryptTCP}[p]
}
