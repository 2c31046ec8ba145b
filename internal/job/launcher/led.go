package launcher

import (
	"fmt"

	"banyan/internal/proto"
)

// led tells the user from which call on a rank is led (--order auto), the first time that a rank is
// from such a call on. The report has it of each rank. Each replica says it.
func (j *job) led(rank proto.Rank, call, where string) {
	if where != "" {
		where = " (called at " + where + ")"
	}
	text := fmt.Sprintf("%v %s%s: timing decides what comes of that, so from here on one of its replicas does (--order auto)", rank, call, where)
	key := fmt.Sprintf("led %d", rank)
	if j.warned[key] {
		return
	}
	j.warned[key] = true
	j.remark(text)
	if first := "led " + call + where; !j.warned[first] {
		j.warned[first] = true
		j.note(text)
	}
}
