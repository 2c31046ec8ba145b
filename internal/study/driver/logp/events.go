package logp

import (
	"slices"

	"banyan/internal/proto"
)

// eventStage says what the event does to a message's receiver, or to its process. Of one
// instant's events, those of lower stages come first, and those of one stage in the order in
// which they were added. Sends follow when all are done.
type eventStage int

const (
	crashes     eventStage = iota // To dies
	receiveEnds                   // To has received the message
	mayReceive                    // To may begin its next receive
	arrives                       // the message is at To
	maySend                       // To may begin its next send
	stages
)

// moment is the events of one instant, by stage.
type moment struct {
	time   proto.Time
	events [stages]list
}

var noEvents = [stages]list{emptyList, emptyList, emptyList, emptyList, emptyList}

// schedule holds the coming events. Many events share few instants, which are kept in order.
type schedule struct {
	due  []*moment
	free []*moment
	slab *slab // of the events
}

// add adds an event, at a later time than that of any moment taken out.
func (s *schedule) add(at proto.Time, stage eventStage, x Message) {
	i, found := slices.BinarySearchFunc(s.due, at, func(m *moment, at proto.Time) int {
		return int(m.time - at)
	})
	if !found {
		if len(s.free) == 0 {
			s.free = append(s.free, new(moment))
		}
		last := len(s.free) - 1
		m := s.free[last]
		s.free = s.free[:last]
		m.time, m.events = at, noEvents
		s.due = slices.Insert(s.due, i, m)
	}
	s.slab.push(&s.due[i].events[stage], x)
}

// next is the time of the next event, or Never.
func (s *schedule) next() proto.Time {
	if len(s.due) == 0 {
		return proto.Never
	}
	return s.due[0].time
}

// take takes out the next moment. The caller releases it after it has taken its events out of
// the slab.
func (s *schedule) take() *moment {
	m := s.due[0]
	s.due = slices.Delete(s.due, 0, 1)
	return m
}

func (s *schedule) release(m *moment) { s.free = append(s.free, m) }

// clear forgets all events. The caller has reset the slab.
func (s *schedule) clear() {
	s.free = append(s.free, s.due...)
	s.due = s.due[:0]
}
