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
	// First and Last are the times from the first victim's fault until the first live member knew
	// of a victim, and until all knew of all. Known members learnt of all within the run's bound,
	// Missing ones didn't; Last is unknown if any are missing.
	First, Last time.Duration
	// Each is the mean time from a victim's fault until all live members knew of it, Spread that
	// from the first member's knowledge of a victim to the last's: the broadcast.
	Each, Spread   time.Duration
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

// all says whether all members learnt of the fault.
func (r *Row) all() bool { return r.Known > 0 && r.Missing == 0 }

// CSVHead is the first line of the rows as CSV.
const CSVHead = "system,n,period_ms,timeout_ms,fault,run,first_ms,last_ms,false_suspicions,messages_per_member_period,cpu_percent_per_member,victims,where,apart_ms,host_size,each_ms,spread_ms,bound_ms"

// WriteCSV writes a row as a line. Times are empty that are missing because there was no fault,
// or because not all learnt of it.
func (r *Row) WriteCSV(w io.Writer) error {
	first, last, each, spread, bound := "", "", "", "", ""
	if r.Known > 0 {
		first = fmt.Sprintf("%.3f", ms(r.First))
	}
	if r.all() {
		last, each, spread = fmt.Sprintf("%.3f", ms(r.Last)), fmt.Sprintf("%.3f", ms(r.Each)), fmt.Sprintf("%.3f", ms(r.Spread))
	}
	if r.System.isBanyan() && r.Fault != None {
		bound = fmt.Sprintf("%g", ms(r.bound()))
	}
	_, err := fmt.Fprintf(w, "%s,%d,%g,%g,%s,%d,%s,%s,%d,%.3f,%.3f,%d,%s,%g,%d,%s,%s,%s\n", r.System, r.N, ms(r.Period), ms(r.Timeout),
		r.Fault, r.Run, first, last, r.FalseSuspicions, r.Messages, r.CPU,
		r.victims(), r.where(), ms(r.Apart), r.HostSize, each, spread, bound)
	return err
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
