package cli

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"banyan/internal/study/table"
)

func TestFlags(t *testing.T) {
	var format table.Format
	var workers int
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	FormatFlag(flags, &format)
	WorkersFlag(flags, &workers, "runs")
	rates := flags.Float64Slice("rate", nil, "")
	if format != table.Text || workers < 1 {
		t.Errorf("the defaults are %q and %d", format, workers)
	}
	if err := flags.Parse([]string{"--format", "csv", "--workers=3", "--rate", "0.5,2"}); err != nil || format != table.CSV || workers != 3 || len(*rates) != 2 {
		t.Errorf("%v, read %q, %d and %v", err, format, workers, *rates)
	}
	if given := Given(flags); given != " --rate 0.5,2" {
		t.Errorf("given is %q", given)
	}
	for arg, want := range map[string]string{
		"--format=xml": `unknown format "xml"`, "--workers=0": "want at least 1", "--workers=many": "want at least 1",
	} {
		if err := flags.Parse([]string{arg}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", arg, err, want)
		}
	}
}
