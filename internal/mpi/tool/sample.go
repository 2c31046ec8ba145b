package tool

import "banyan/internal/counters"

// Sample is what the process has counted until now.
type Sample struct {
	counters.Record
	Losses
}

// Losses is what the process has heard of deaths.
type Losses struct {
	Deaths        uint64 // of processes of the job
	Substitutions uint64 // deaths of replicas of this process's rank, for which the others go on
	Lost          uint64 // ranks
	Heals         uint64 // replacements that are members
	Views         uint64
}

// Performances are all performance variables.
func Performances() []Performance {
	counter := func(class Class, category, name, description string, of func(*Sample) uint64) Performance {
		return Performance{Named{name, description, category, ForUsers}, class, of}
	}
	return []Performance{
		counter(Counter, Messages, "messages_sent", "messages that this process has sent", func(s *Sample) uint64 { return s.Sent }),
		counter(Aggregate, Messages, "bytes_sent", "bytes that it has sent through rings and sockets", func(s *Sample) uint64 { return s.Bytes }),
		counter(Aggregate, Messages, "bytes_read", "bytes of large messages that it has read from their senders' memory", func(s *Sample) uint64 { return s.Read }),
		counter(Level, Messages, "receives_posted", "receives that wait for a message", func(s *Sample) uint64 { return s.Posted }),
		counter(Level, Messages, "messages_unexpected", "messages that have come before a receive for them", func(s *Sample) uint64 { return s.Unexpected }),
		counter(Level, Replication, "messages_retained", "messages that are kept for other replicas", func(s *Sample) uint64 { return s.Retained }),
		counter(Level, Replication, "bytes_retained", "bytes of messages that are kept for other replicas", func(s *Sample) uint64 { return s.RetainedBytes }),
		counter(Counter, Failures, "deaths", "deaths of processes of the job that this one has heard of", func(s *Sample) uint64 { return s.Deaths }),
		counter(Counter, Failures, "substitutions", "deaths of replicas of this rank, for which the others go on", func(s *Sample) uint64 { return s.Substitutions }),
		counter(Counter, Failures, "ranks_lost", "ranks that have no replica left", func(s *Sample) uint64 { return s.Lost }),
		counter(Counter, Failures, "heals", "replacements that have become members", func(s *Sample) uint64 { return s.Heals }),
		counter(Counter, Failures, "views", "views of the members that have come into force", func(s *Sample) uint64 { return s.Views }),
		counter(Counter, Detection, "heartbeats_sent", "heartbeats that this process has sent", func(s *Sample) uint64 { return s.Rounds }),
		counter(Counter, Detection, "heartbeats_late", "heartbeats that have come late to it", func(s *Sample) uint64 { return s.Late }),
	}
}
