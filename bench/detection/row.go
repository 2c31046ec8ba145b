package detection

import (
	"fmt"
	"io"
	"time"
)

// Row is what one run showed.
type Row struct {
	Setting
	Run int
	// First and Last are the times from the fault until the first and the last live member knew
	// of it. Known members learnt of it within the run's bound, Missing ones didn't; Last is
	// unknown if any are missing.
	First, Last    time.Duration
	Known, Missing int
	// Spoilt says that there was no fault, since too few members were left that no other took for
	// dead.
	Spoilt bool
	// FalseSuspicions are the live members that were taken for dead during the whole run,
	// QuietSuspicions those in the quiet time.
	FalseSuspicions, QuietSuspicions int
	// Accusations are the first of each of these.
	Accusations []Accusation
	// MemberHours is the quiet time of all members together.
	MemberHours float64
	// Messages and CPU are a member's in the quiet time: messages a period,
	// percent of one core.
	Messages, CPU float64
}

// Accusation is a false suspicion.
type Accusation struct {
	Of, By int
	// Up is when, counted from the time at which all members were up.
	Up time.Duration
	// Cause is how it came about, where the system says.
	Cause string `json:",omitempty"`

	at int64 // monotonic
}

// knowledge enters the members' times, which are sorted.
func (r *Row) knowledge(times []time.Duration, missing int) {
	r.Known, r.Missing = len(times), missing
	if len(times) > 0 {
		r.First, r.Last = times[0], times[len(times)-1]
	}
}

// all says whether all members learnt of the fault.
func (r *Row) all() bool { return r.Known > 0 && r.Missing == 0 }

// CSVHead is the first line of the rows as CSV.
const CSVHead = "system,n,period_ms,timeout_ms,fault,run,first_ms,last_ms,false_suspicions,messages_per_member_period,cpu_percent_per_member"

// WriteCSV writes a row as a line. Times are empty that are missing because there was no fault,
// or because not all learnt of it.
func (r *Row) WriteCSV(w io.Writer) error {
	first, last := "", ""
	if r.Known > 0 {
		first = fmt.Sprintf("%.3f", ms(r.First))
	}
	if r.all() {
		last = fmt.Sprintf("%.3f", ms(r.Last))
	}
	_, err := fmt.Fprintf(w, "%s,%d,%g,%g,%s,%d,%s,%s,%d,%.3f,%.3f\n", r.System, r.N, ms(r.Period), ms(r.Timeout),
		r.Fault, r.Run, first, last, r.FalseSuspicions, r.Messages, r.CPU)
	return err
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
