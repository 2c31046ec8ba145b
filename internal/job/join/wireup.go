package join

import (
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

// entryKey and the rank in the launcher's eyes are the key of a process's entry: the secret that it
// proposes for the job, "" if the launcher has made one, and what must be the same for all.
const entryKey = "banyan-secret-"

// wireup is what PMI tells a process that it must know before it can connect to others.
type wireup struct {
	secret  []byte  // the job's
	made    bool    // by the launcher
	address string  // where this process is reached
	hosts   []int32 // of each process, nil if unknown
	program int     // which of the job's programs this process runs, from 0; -1 if unknown
}

// wireUp asks PMI. All processes that were started together call it. It has a barrier, unless the
// launcher is ours: that has made the job's secret, and the entries are compared later (publish).
func wireUp(launcher *pmi.Client, ours bool, id identity, own settings, log *slog.Logger) (w wireup, err error) {
	ask := launcher.Batch()
	var secret string
	switch {
	case ours:
		ask.Get(pmi.SecretKey, &secret)
	case id.replacement == nil: // a replacement finds the entries there
		ask.Put(entryOf(launcher.Rank()), pmi.NewSecret()+","+own.common())
		ask.Barrier()
	}
	var hosts []int32
	var unclear error
	ask.Hosts(&hosts, &unclear)
	ask.Program(&w.program)
	if err := ask.Ask(); err != nil {
		return w, err
	}
	if w.made = secret != ""; !w.made {
		if secret, err = compareEntries(launcher, id.layout.Procs()+id.spares, own); err != nil {
			return w, err
		}
	}
	if w.secret, err = hex.DecodeString(secret); err != nil {
		return w, err
	}
	if unclear != nil {
		log.Warn("the ring of heartbeats isn't ordered by host", "reason", unclear)
	}
	if w.address, err = listenAddress(hosts); err != nil {
		return w, err
	}
	if hosts != nil {
		w.hosts = hosts[:id.layout.Procs()]
	}
	return w, nil
}

func entryOf(rank int) string { return entryKey + strconv.Itoa(rank) }

// common is what must be the same for all processes of the job, as an entry has it.
func (s *settings) common() string {
	return medium(s.media) + "," + encryption(s.sealing) + "," + env.FormatBcast(s.scheme)
}

// compareEntries finds the entry that counts, that of the lowest process that has put one, and
// compares it with this process's settings. It returns the secret of that entry.
func compareEntries(launcher *pmi.Client, procs int, own settings) (secret string, err error) {
	for p := range procs {
		entry, err := launcher.Get(entryOf(p))
		if errors.Is(err, pmi.ErrNoKey) {
			continue // the process died before it put one
		}
		if err != nil {
			return "", err
		}
		return compareEntry(entry, p, launcher.Rank(), own)
	}
	return "", errors.New("no process has put an entry")
}

// compareEntry compares the entry of process p with the settings of process self, and returns the
// secret in the entry.
func compareEntry(entry string, p, self int, own settings) (secret string, err error) {
	secret, theirs, _ := strings.Cut(entry, ",")
	media, theirs, _ := strings.Cut(theirs, ",")
	sealing, scheme, _ := strings.Cut(theirs, ",")
	for _, x := range [][3]string{
		{env.Transport, media, medium(own.media)}, {env.Encrypt, sealing, encryption(own.sealing)}, {env.Bcast, scheme, env.FormatBcast(own.scheme)},
	} {
		if x[1] != x[2] {
			return "", fmt.Errorf("%s differs: process %d of the job goes by %s, and process %d by %s; it must be the same for all",
				x[0], p, x[1], self, x[2])
		}
	}
	return secret, nil
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
