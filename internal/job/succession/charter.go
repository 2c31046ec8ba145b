package succession

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"time"

	"banyan/internal/job/agent/wire"
	"banyan/internal/proto"
	"banyan/internal/proto/steward"
)

// charter is what an agent must know to take part.
type charter struct {
	Self   steward.Host
	Domain int32
	Voters int
	Ledger *steward.Ledger
	Ports  map[steward.Host]wire.Ports
	Files  string // the job's directory if the ledger's witness is files; else empty
	Job    string // its name
	Error  string // the file of its messages; empty: none
	Batch  string // Will.Batch
}

// additions are agents that have come later.
type additions map[steward.Host]wire.Ports

// patience is how long a launcher may be silent before an agent takes over, and how much longer the
// next agent waits. If its connections end nobody waits.
const patience = 2 * time.Second

// machine is how a party votes.
func machine(self steward.Host, domain int32, voters int) steward.Config {
	c := steward.Defaults(proto.Time(time.Second))
	c.Self, c.Domain, c.Voters = self, domain, voters
	c.Patience, c.Stagger = proto.Time(patience), proto.Time(patience)
	return c
}

func encode(x any) []byte {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(x); err != nil {
		panic("succession: " + err.Error()) // all of it can be written
	}
	return b.Bytes()
}

func decode(b []byte, x any) error {
	if err := gob.NewDecoder(bytes.NewReader(b)).Decode(x); err != nil {
		return fmt.Errorf("the launcher's words make no sense: %w", err)
	}
	return nil
}
