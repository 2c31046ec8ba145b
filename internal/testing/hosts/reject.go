package hosts

import "encoding/binary"

// TCP as far as a firewall must know it.
const (
	protocolTCP = 6
	flagFin     = 1 << 0
	flagSyn     = 1 << 1
	flagReset   = 1 << 2
	flagAck     = 1 << 4

	sizeIP  = 20 // without options
	sizeTCP = 20
)

// rejection is the packet with which a firewall rejects a packet of a TCP connection: it resets the
// connection, in the name of the destination (RFC 9293, 3.10.7.1). It is nil where nothing is sent.
func rejection(packet []byte) []byte {
	if len(packet) < sizeIP || packet[9] != protocolTCP {
		return nil
	}
	header := int(packet[0]&15) * 4
	if header < sizeIP || len(packet) < header+sizeTCP {
		return nil
	}
	segment := packet[header:]
	flags := segment[13]
	if flags&flagReset != 0 {
		return nil
	}
	b := make([]byte, sizeIP+sizeTCP)
	b[0], b[8], b[9] = 0x45, 64, protocolTCP
	binary.BigEndian.PutUint16(b[2:], uint16(len(b)))
	copy(b[12:16], packet[16:20])
	copy(b[16:20], packet[12:16])
	binary.BigEndian.PutUint16(b[10:], checksum(0, b[:sizeIP]))

	reset := b[sizeIP:]
	copy(reset[0:2], segment[2:4])
	copy(reset[2:4], segment[0:2])
	reset[12] = sizeTCP / 4 << 4
	if flags&flagAck != 0 {
		copy(reset[4:8], segment[8:12]) // its acknowledgement says what it expects
		reset[13] = flagReset
	} else {
		next := binary.BigEndian.Uint32(segment[4:]) + uint32(len(segment)-int(segment[12]>>4)*4)
		if flags&(flagSyn|flagFin) != 0 {
			next++
		}
		binary.BigEndian.PutUint32(reset[8:], next)
		reset[13] = flagReset | flagAck
	}
	// The checksum covers the addresses, the protocol and the length as well.
	pseudo := uint32(protocolTCP + sizeTCP)
	for i := 12; i < 20; i += 2 {
		pseudo += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	binary.BigEndian.PutUint16(reset[16:], checksum(pseudo, reset))
	return b
}

// checksum is the Internet's, of bytes whose number is even.
func checksum(sum uint32, b []byte) uint16 {
	for i := 0; i < len(b); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}
