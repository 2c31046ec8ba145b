package file

import (
	"encoding/binary"
	"strconv"
)

// Hints are what a program may say of its access: MPI's reserved keys, and those of ROMIO that
// mean the same. All ranks use those of rank 0.
type Hints struct {
	Nodes       int64      // cb_nodes: how many aggregators; 0: as many as seems good
	Buffer      int64      // cb_buffer_size: what an aggregator reads or writes at a time
	Sieve       int64      // ind_rd_buffer_size: the largest piece that is read for several runs; 0: none
	Read, Write Collective // collective_buffering, romio_cb_read, romio_cb_write
	Perm        int64      // file_perm: of a file that is made
}

// Collective says whether collective accesses use aggregators.
type Collective uint8

// The values: if the ranks' runs are interleaved, always, never.
const (
	Automatic Collective = iota
	Enable
	Disable
)

var collectives = [...]string{"automatic", "enable", "disable"}

// Defaults are the hints of a program that gives none.
func Defaults() Hints { return Hints{Buffer: 4 << 20, Sieve: 4 << 20, Perm: 0o666} }

// With are the hints with those that get gives. A hint with a value that makes no sense is
// ignored, as the standard has it.
func (h Hints) With(get func(key string) (value string, found bool)) Hints {
	number := func(key string, base int, low, high int64, to *int64) {
		if s, found := get(key); found {
			if n, err := strconv.ParseInt(s, base, 64); err == nil && n >= low && n <= high {
				*to = n
			}
		}
	}
	number("cb_nodes", 10, 1, 1<<31-1, &h.Nodes)
	number("cb_buffer_size", 10, 4096, 1<<30, &h.Buffer)
	number("ind_rd_buffer_size", 10, 4096, 1<<30, &h.Sieve)
	number("file_perm", 8, 0, 0o777, &h.Perm)
	if s, _ := get("romio_ds_read"); s == "disable" {
		h.Sieve = 0
	}
	switch s, _ := get("collective_buffering"); s {
	case "true":
		h.Read, h.Write = Enable, Enable
	case "false":
		h.Read, h.Write = Disable, Disable
	}
	choice := func(key string, to *Collective) {
		s, _ := get(key)
		for i, name := range collectives {
			if s == name {
				*to = Collective(i)
			}
		}
	}
	choice("romio_cb_read", &h.Read)
	choice("romio_cb_write", &h.Write)
	return h
}

// Each shows the hints in use.
func (h Hints) Each(show func(key, value string)) {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	show("cb_nodes", number(h.Nodes))
	show("cb_buffer_size", number(h.Buffer))
	if h.Sieve > 0 {
		show("ind_rd_buffer_size", number(h.Sieve))
		show("romio_ds_read", "enable")
	} else {
		show("romio_ds_read", "disable")
	}
	show("romio_ds_write", "disable")
	show("romio_cb_read", collectives[h.Read])
	show("romio_cb_write", collectives[h.Write])
	show("collective_buffering", strconv.FormatBool(h.Read != Disable || h.Write != Disable))
	show("file_perm", strconv.FormatInt(h.Perm, 8))
}

// hintsSize is the length of hints in a message.
const hintsSize = 5 * 8

func (h Hints) encode(b []byte) {
	for i, n := range []int64{h.Nodes, h.Buffer, h.Sieve, int64(h.Read) | int64(h.Write)<<8, h.Perm} {
		binary.LittleEndian.PutUint64(b[8*i:], uint64(n))
	}
}

func decodeHints(b []byte) (h Hints) {
	n := func(i int) int64 { return int64(binary.LittleEndian.Uint64(b[8*i:])) }
	h.Nodes, h.Buffer, h.Sieve, h.Perm = n(0), n(1), n(2), n(4)
	h.Read, h.Write = Collective(n(3)), Collective(n(3)>>8)
	return h
}
