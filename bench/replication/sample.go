package replication

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"banyan/internal/study/table"
)

// Parts of the bench that record samples.
const (
	PartPingPong    = "pingpong"
	PartApplication = "application"
	PartTraffic     = "traffic"
	PartFailover    = "failover"
	// PartInstructions is of one message sent and one received. Its names are those of the
	// replica that was counted.
	PartInstructions = "instructions"
)

var sampledParts = []string{PartPingPong, PartApplication, PartTraffic, PartFailover, PartInstructions}

// Names of PartInstructions: a replica that is behind the others of its rank, one that is ahead
// and keeps what it sends for them, and a process of an unreplicated job that has the lane.
const (
	Behind = "behind"
	Ahead  = "ahead"
	ByLane = "lane"
)

// Sample is what one run gave: a row of the CSV from which all figures can be made again.
type Sample struct {
	Part string
	// Name is the language of a ping-pong, the application, or the transport of a failover.
	Name            string
	Bytes           int // of a ping-pong's message
	Ranks, Replicas int
	Setting         Setting
	// Round is from 0 on. Ratios are taken between settings of one round.
	Round int
	// Seconds are one way of a ping-pong, an application from its start to its end, or the pause
	// of a failover; CPU is the time of all processors for an application.
	Seconds, CPU float64
	// Messages and Acknowledgements are frames: the first of each message, and those that carry
	// nothing but acknowledgements. They are counted in the traffic only.
	Messages, Acknowledgements int
	Instructions               int
}

var csvHead = []string{"part", "name", "bytes", "ranks", "replicas", "setting", "round", "seconds", "cpu_s", "messages", "acknowledgements", "instructions"}

// Columns are the headings of the CSV.
func Columns() []string { return slices.Clone(csvHead) }

// Fields are the sample as CSV.
func (s *Sample) Fields() []string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 7, 64) }
	return []string{
		s.Part, s.Name, strconv.Itoa(s.Bytes), strconv.Itoa(s.Ranks), strconv.Itoa(s.Replicas), s.Setting.String(), strconv.Itoa(s.Round),
		number(s.Seconds), number(s.CPU), strconv.Itoa(s.Messages), strconv.Itoa(s.Acknowledgements), strconv.Itoa(s.Instructions),
	}
}

// WriteCSV writes samples with a heading.
func WriteCSV(w io.Writer, samples []Sample) error {
	records := [][]string{csvHead}
	for i := range samples {
		records = append(records, samples[i].Fields())
	}
	return csv.NewWriter(w).WriteAll(records)
}

// ReadCSV reads what WriteCSV has written. Errors name the line.
func ReadCSV(r io.Reader) ([]Sample, error) {
	return table.ReadCSV(r, csvHead, "banyan bench replication --samples", parseSample)
}

func parseSample(fields []string) (s Sample, err error) {
	for i, to := range []any{
		&s.Part, &s.Name, &s.Bytes, &s.Ranks, &s.Replicas, &s.Setting, &s.Round, &s.Seconds, &s.CPU, &s.Messages, &s.Acknowledgements, &s.Instructions,
	} {
		switch to := to.(type) {
		case *string:
			*to = fields[i]
		case *Setting:
			*to, err = ParseSetting(fields[i])
		case *int:
			if *to, err = strconv.Atoi(fields[i]); err == nil && *to < 0 {
				err = errors.New("want 0 or more")
			}
		case *float64:
			if *to, err = strconv.ParseFloat(fields[i], 64); err == nil && !(*to >= 0 && *to <= math.MaxFloat32) {
				err = errors.New("want seconds")
			}
		}
		if err != nil {
			return s, fmt.Errorf("%s: %.40q: %w", csvHead[i], fields[i], err)
		}
	}
	switch {
	case !slices.Contains(sampledParts, s.Part):
		return s, fmt.Errorf("part: %.40q: there are %s", s.Part, strings.Join(sampledParts, ", "))
	case s.Part == PartTraffic && s.Messages == 0:
		return s, errors.New("messages: want more than 0")
	case s.Part == PartInstructions && s.Instructions == 0:
		return s, errors.New("instructions: want more than 0")
	case s.Seconds == 0 && s.Part != PartTraffic && s.Part != PartInstructions:
		return s, errors.New("seconds: want more than 0")
	}
	return s, nil
}
