package binding

// Status is MPI_Status, byte for byte. A nil pointer is MPI_STATUS_IGNORE.
type Status struct {
	Source, Tag, Error int32
	cancelled          int32
	bytes              [2]int32 // of the message, 64 bits: the lower half first
	_                  [2]int32
}

// Bytes is the size of the message that the status is about.
func (s *Status) Bytes() int64 { return int64(uint32(s.bytes[0])) | int64(s.bytes[1])<<32 }

// SetBytes notes the size of the message.
func (s *Status) SetBytes(n int64) { s.bytes = [2]int32{int32(n), int32(n >> 32)} }

// Cancelled says whether the operation was cancelled.
func (s *Status) Cancelled() bool { return s.cancelled != 0 }

// SetCancelled notes whether it was.
func (s *Status) SetCancelled(is bool) {
	s.cancelled = 0
	if is {
		s.cancelled = 1
	}
}

// set fills all fields but Error, which only calls with several statuses change.
func (s *Status) set(source, tag int32, bytes int64) {
	if s == nil {
		return
	}
	s.Source, s.Tag, s.cancelled = source, tag, 0
	s.SetBytes(bytes)
}

// empty fills in the status that the standard calls empty.
func (s *Status) empty() {
	s.set(AnySource, AnyTag, 0)
	if s != nil {
		s.Error = int32(Success)
	}
}
