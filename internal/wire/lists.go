package wire

import (
	"encoding/binary"
	"fmt"

	"banyan/internal/proto"
)

// ProcSize is the length of an encoded Proc in a list in bytes.
const ProcSize = 4

// AppendAck appends one encoded record to the payload of a KindAck.
func AppendAck(b []byte, a Ack) []byte {
	b = binary.LittleEndian.AppendUint64(b, a.Context)
	b = binary.LittleEndian.AppendUint64(b, a.Seq)
	var single uint64
	if a.Single {
		single = 1
	}
	return binary.LittleEndian.AppendUint64(b, single)
}

// DecodeAcks appends the records in the payload of a KindAck to dst. The error
// wraps ErrCorrupt; dst comes back as it was then.
func DecodeAcks(dst []Ack, payload []byte) ([]Ack, error) {
	if len(payload)%AckSize != 0 {
		return dst, fmt.Errorf("%w: a list of acks in %d bytes", ErrCorrupt, len(payload))
	}
	whole := dst
	for ; len(payload) > 0; payload = payload[AckSize:] {
		single := binary.LittleEndian.Uint64(payload[16:])
		if single > 1 {
			return dst, fmt.Errorf("%w: an ack of type %d", ErrCorrupt, single)
		}
		whole = append(whole, Ack{
			Context: binary.LittleEndian.Uint64(payload),
			Seq:     binary.LittleEndian.Uint64(payload[8:]),
			Single:  single == 1,
		})
	}
	return whole, nil
}

// AppendProcs appends the encoded list to the payload of a KindDeaths.
func AppendProcs(b []byte, procs []proto.Proc) []byte {
	for _, p := range procs {
		b = binary.LittleEndian.AppendUint32(b, uint32(p))
	}
	return b
}

// DecodeProcs appends the list in the payload of a KindDeaths to dst. Whether
// the job has such a Proc is for the caller to check; none is negative. The
// error wraps ErrCorrupt; dst comes back as it was then.
func DecodeProcs(dst []proto.Proc, payload []byte) ([]proto.Proc, error) {
	if len(payload)%ProcSize != 0 {
		return dst, fmt.Errorf("%w: a list of processes in %d bytes", ErrCorrupt, len(payload))
	}
	whole := dst
	for ; len(payload) > 0; payload = payload[ProcSize:] {
		p := proto.Proc(binary.LittleEndian.Uint32(payload))
		if p < 0 {
			return dst, fmt.Errorf("%w: process %d in a list", ErrCorrupt, int32(p))
		}
		whole = append(whole, p)
	}
	return whole, nil
}
