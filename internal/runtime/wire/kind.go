package wire

import "fmt"

// payloadShape says which payloads a kind of frame may carry.
type payloadShape struct {
	name string
	unit uint32 // the payload is a whole number of units; 0: there is none
}

// anyBytes is the unit of a payload that is just bytes.
const anyBytes = 1

var kinds = [kindEnd]payloadShape{
	KindEager:            {"eager", anyBytes},
	KindOffer:            {"offer", anyBytes},
	KindPull:             {"pull", 0},
	KindData:             {"data", anyBytes},
	KindAck:              {"ack", AckSize},
	KindReceived:         {"received", 0},
	KindTree:             {"tree", anyBytes},
	KindCorrection:       {"correction", anyBytes},
	KindCorrectionOffer:  {"correction-offer", 0},
	KindBroadcastPull:    {"broadcast-pull", anyBytes},
	KindBroadcastMissing: {"broadcast-missing", anyBytes},
	KindBroadcastReport:  {"broadcast-report", 0},
	KindHeartbeat:        {"heartbeat", 0},
	KindObserve:          {"observe", 0},
	KindNews:             {"news", GoneSize},
	KindReconcile:        {"reconcile", GoneSize},
	KindEviction:         {"eviction notice", 0},
	KindMembership:       {"membership", anyBytes},
	KindNote:             {"note", 0},
	KindLog:              {"log", anyBytes},
	KindReady:            {"ready", 0},
	KindState:            {"state", anyBytes},
	KindHealed:           {"healed", 0},
	KindDone:             {"done", 0},
	KindAllDone:          {"all-done", 0},
	KindGoodbye:          {"goodbye", 0},
	KindAbort:            {"abort", anyBytes},
}

// Valid says whether k is a kind that may be on the wire.
func (k Kind) Valid() bool { return k > KindInvalid && k < kindEnd }

func (k Kind) String() string {
	if !k.Valid() {
		return fmt.Sprintf("kind %d", uint8(k))
	}
	return kinds[k].name
}
