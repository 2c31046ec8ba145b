package launcher

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"banyan/internal/fault"
	"banyan/internal/job/control"
	"banyan/internal/job/env"
	"banyan/internal/job/pmi"
	"banyan/internal/proto"
)

// mpi is what a program of a job knows of its job. It speaks PMI and control directly, as package
// mpi does.
type mpi struct {
	pmi     *pmi.Client
	control *control.Conn
	proc    proto.Proc
	ranks   int
}

func (m *mpi) rank() int    { return int(m.proc) % m.ranks }
func (m *mpi) replica() int { return int(m.proc) / m.ranks }
func (m *mpi) tell(t control.Type) {
	if err := m.control.Send(control.Message{Type: t}); err != nil {
		panic(err)
	}
}

// leave finalises.
func (m *mpi) leave() {
	m.tell(control.Finalized)
	m.control.Close()
	m.pmi.Finalize()
}

// join does what MPI_Init does.
func join() *mpi {
	m := connect()
	if err := m.pmi.Barrier(); err != nil {
		panic(err)
	}
	m.tell(control.Ready)
	return m
}

func connect() *mpi {
	p, err := pmi.FromEnv(false)
	if err != nil {
		panic(err)
	}
	c, err := control.FromEnv()
	if err != nil {
		panic(err)
	}
	replicas, _ := strconv.Atoi(os.Getenv(env.Replicas))
	return &mpi{p, c, proto.Proc(p.Rank()), p.Size() / replicas}
}

// orphaned exits when the launcher has gone, as every process of a job must.
func (m *mpi) orphaned() {
	for {
		if _, err := m.control.Receive(); err != nil {
			os.Exit(1)
		}
	}
}

// program runs one of the programs of the tests.
func program(name string, args []string) int {
	switch name {
	case "live": // real ranks, see silence_test.go
		d, _ := time.ParseDuration(args[1])
		live(args[0], d)
	case "rounds": // see resume_test.go
		n, _ := strconv.Atoi(args[0])
		d, _ := time.ParseDuration(args[1])
		end := ""
		if len(args) > 2 {
			end = args[2]
		}
		rounds(n, d, end)
	case "hang": // see explain_test.go
		hang()
	case "heal": // see recovery_test.go
		return healProgram(args[0], args[1])
	case "several": // see several_test.go
		return severalProgram(args[0])
	case "talk", "calculate": // see soak_test.go
		d, _ := time.ParseDuration(args[0])
		map[string]func(time.Duration){"talk": talk, "calculate": calculate}[name](d)
	case "print": // text as given
		os.Stdout.WriteString(args[0])
	case "exit": // with a code, having written to both outputs
		code, _ := strconv.Atoi(args[0])
		fmt.Println("out")
		fmt.Fprintln(os.Stderr, "err")
		return code
	case "env":
		fmt.Println(os.Getenv(args[0]))
	case "text": // text for rank 0 from pieces, each replica at its pace; the first args[0] die in the middle
		m := join()
		text := []byte(testText(m.rank()))
		dying, _ := strconv.Atoi(args[0])
		seed, _ := strconv.Atoi(args[1])
		cut := -1
		if m.replica() < dying {
			cut = (seed*7919 + m.replica()*104729) % len(text)
		}
		for at := 0; at < len(text); at += 997 {
			end := min(at+997, len(text))
			if cut >= 0 && cut < end {
				os.Stdout.Write(text[at:max(at, cut)])
				fault.Kill.Strike()
			}
			os.Stdout.Write(text[at:end])
		}
		m.leave()
	case "die": // rank args[0], replica args[1] (or all: -1), like args[2]; the others wait for the news
		m := join()
		if len(args) > 3 && args[3] == "survive" {
			m.tell(control.Survive)
		}
		rank, _ := strconv.Atoi(args[0])
		replica, _ := strconv.Atoi(args[1])
		if m.rank() == rank && (replica < 0 || m.replica() == replica) {
			return end(args[2])
		}
		for {
			news, err := m.control.Receive()
			if err != nil {
				return 99
			}
			if news.Type == control.Death {
				fmt.Printf("rank %d hears that %d is dead: %s\n", m.rank(), news.Proc, news.Cause)
				break
			}
		}
		if len(args) > 3 && args[3] == "wait" {
			select {}
		}
		m.leave()
	case "hosts": // rank 0 prints the hosts of all processes
		m := join()
		var hosts []int32
		var unclear error
		ask := m.pmi.Batch()
		ask.Hosts(&hosts, &unclear)
		if err := errors.Join(ask.Ask(), unclear); m.rank() == 0 {
			fmt.Println(hosts, err)
		}
		m.leave()
	case "bereaved": // comes to a safe point, hears of args[0] deaths, says so, and leaves
		if os.Getenv(env.Incarnations) != "" {
			time.Sleep(time.Minute)
		}
		m := join()
		m.tell(control.Healable)
		for n, _ := strconv.Atoi(args[0]); n > 0; {
			news, err := m.control.Receive()
			if err != nil {
				return 99
			}
			if news.Type == control.Death {
				n--
			}
		}
		m.tell(control.Waits)
		time.Sleep(100 * time.Millisecond)
		m.leave()
	case "finalized": // finalises, then rank args[0], replica args[1] (or all: -1) ends like args[2]
		m := join()
		m.leave()
		rank, _ := strconv.Atoi(args[0])
		replica, _ := strconv.Atoi(args[1])
		if (rank < 0 || m.rank() == rank) && (replica < 0 || m.replica() == replica) {
			return end(args[2])
		}
		time.Sleep(100 * time.Millisecond)
		fmt.Println("late line")
	case "abort": // process args[0] aborts with code args[1]
		m := join()
		if fmt.Sprint(int(m.proc)) == args[0] {
			code, _ := strconv.Atoi(args[1])
			if len(args) > 2 {
				m.pmi.Abort(code, args[2])
			} else {
				m.control.Send(control.Message{Type: control.Abort, Code: code, Text: "told to"})
			}
		}
		m.orphaned()
	case "part": // rank 1 aborts the ranks 1 and 2 with code 7; the others leave when they hear of that
		m := join()
		if args[0] == "survive" {
			m.tell(control.Survive)
		}
		if m.rank() == 1 {
			m.control.Send(control.Message{Type: control.Abort, Code: 7, Text: "told to", Group: []proto.Proc{1, 2}})
		}
		if m.rank() == 1 || m.rank() == 2 {
			m.orphaned()
		}
		for range 2 {
			if news, err := m.control.Receive(); err != nil || news.Type != control.Death {
				return 99
			}
		}
		m.leave()
	case "suspect": // process 0 finds process args[0], which is stopped, silent
		m := join()
		target, _ := strconv.Atoi(args[0])
		if int(m.proc) == target {
			fault.Stop.Strike()
		}
		if m.proc == 0 {
			m.control.Send(control.Message{Type: control.Suspect, Proc: proto.Proc(target), Silent: 1234 * time.Millisecond})
		}
		for {
			news, err := m.control.Receive()
			if err != nil {
				return 99
			}
			if news.Type == control.Death {
				break
			}
		}
		m.leave()
	case "early": // process 1 ends like args[0] before it joins
		m := connect()
		if m.proc == 1 {
			return end(args[0])
		}
		m.pmi.Barrier()
		m.tell(control.Ready)
		m.leave()
	case "cat": // stdin to stdout; a replica can stop (args[0]) before it reads
		m := join()
		if len(args) > 0 && fmt.Sprint(m.replica()) == args[0] && m.rank() == 0 {
			return end(args[1])
		}
		n, err := io.Copy(os.Stdout, os.Stdin)
		if err != nil {
			return 5
		}
		fmt.Fprintf(os.Stderr, "%d bytes\n", n)
		m.leave()
	case "prompt":
		m := join()
		in := bufio.NewReader(os.Stdin)
		if m.rank() == 0 {
			fmt.Print("name? ")
			name, _ := in.ReadString('\n')
			fmt.Printf("hello %s", name)
		}
		m.leave()
	case "differ": // prints lines with the process number
		m := join()
		for i := range 10 {
			fmt.Printf("line %d of process %d\n", i, m.proc)
		}
		m.leave()
	case "sleep": // with a child, until killed
		m := join()
		child := exec.Command("sleep", "1000")
		if err := child.Start(); err != nil {
			return 5
		}
		fmt.Printf("pids %d %d\n", os.Getpid(), child.Process.Pid)
		m.orphaned()
	}
	return 0
}

// end ends a program as how says.
func end(how string) int {
	switch how {
	case "kill":
		fault.Kill.Strike()
	case "stop":
		fault.Stop.Strike()
	case "term":
		syscall.Kill(os.Getpid(), syscall.SIGTERM)
		time.Sleep(time.Minute)
	}
	code, _ := strconv.Atoi(how)
	return code
}

// testText is a text that differs by rank.
func testText(rank int) string {
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, "rank %d line %d %s\n", rank, i, strings.Repeat("x", i%70))
	}
	return b.String()
}
