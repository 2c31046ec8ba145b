package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"banyan/mpi"
)

// ring is a program for the scripts: "ring ROUNDS [PAUSE]" sends a number
// around a ring and adds all ranks' numbers up, again and again, and rank 0 prints
// both.
func ring() {
	rounds, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	var pause time.Duration
	if len(os.Args) > 2 {
		if pause, err = time.ParseDuration(os.Args[2]); err != nil {
			panic(err)
		}
	}
	mpi.Main(func(world *mpi.Comm) error {
		rank, size := world.Rank(), world.Size()
		number := []int64{int64(rank)}
		for round := range rounds {
			got := make([]int64, 1)
			if _, err := mpi.Sendrecv(world, number, (rank+1)%size, 0, got, (rank+size-1)%size, 0); err != nil {
				return err
			}
			number[0] = got[0]*3%1000 + int64(round)
			sum := make([]int64, 1)
			if err := mpi.Allreduce(world, number, sum, mpi.Sum[int64]); err != nil {
				return err
			}
			if rank == 0 {
				fmt.Printf("round %d: %d of %d\n", round, number[0], sum[0])
			}
			time.Sleep(pause)
		}
		return nil
	})
}

// stuck is a program in which each rank receives from the next, and nobody sends.
func stuck() {
	mpi.Main(func(world *mpi.Comm) error {
		_, err := mpi.Recv(world, make([]int64, 1), (world.Rank()+1)%world.Size(), 7)
		return err
	})
}

// healer is ring with safe points: "healer ROUNDS [PAUSE
// [before|after|lines|wrong|stateless|fails|large]]". It doesn't show that it has been restored:
// its output is that of ring. Rank 0 reads its input before or after its first safe point, or a
// line in each round, which it prints. "wrong", it is wrong 20 rounds before the end, in rank
// 1's replica 0. "stateless", it registers no state. "fails", rank 1 ends there each time.
// "large", it has 8 MiB more, which it doesn't change. It waits for replacements if a hold says
// so, and has deaths.
func healer() {
	rounds, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	var pause time.Duration
	if len(os.Args) > 2 {
		if pause, err = time.ParseDuration(os.Args[2]); err != nil {
			panic(err)
		}
	}
	mpi.Main(func(world *mpi.Comm) error {
		rank, size := world.Rank(), world.Size()
		number, round := []int64{int64(rank)}, 0
		ring, err := world.Dup()
		if err != nil {
			return err
		}
		if len(os.Args) <= 3 || os.Args[3] != "stateless" {
			if err := errors.Join(mpi.Register(world, "round", &round), mpi.RegisterSlice(world, "number", number)); err != nil {
				return err
			}
		}
		if len(os.Args) > 3 && os.Args[3] == "large" {
			large := make([]int64, 1<<20)
			for i := range large {
				large[i] = int64(i * i)
			}
			if err := mpi.RegisterSlice(world, "large", large); err != nil {
				return err
			}
		}
		read := func(when string) {
			if rank == 0 && round == 0 && len(os.Args) > 3 && os.Args[3] == when {
				io.Copy(io.Discard, os.Stdin)
			}
		}
		read("before")
		lines := bufio.NewReader(os.Stdin)
		interactive := rank == 0 && len(os.Args) > 3 && os.Args[3] == "lines"
		if interactive {
			mpi.RegisterInput(world, lines)
			lines.ReadString('\n') // by which it reads more ahead
		}
		hold, deaths := newHold(), newDeaths()
		world.ExpectSafepoints(rounds)
		for ; round < rounds; round++ {
			for waits := true; waits; waits = hold.waits(round) {
				restored, err := world.Safepoint()
				if err != nil {
					return err
				}
				if restored {
					hold.restored()
				}
			}
			deaths.strike(round)
			read("after")
			if interactive {
				line, _ := lines.ReadString('\n')
				fmt.Printf("%q\n", line)
			}
			if len(os.Args) > 3 && os.Args[3] == "wrong" && round == rounds-20 && os.Getenv("PMI_RANK") == "1" {
				number[0] ^= 1
			}
			if len(os.Args) > 3 && os.Args[3] == "fails" && round == rounds-20 && rank == 1 {
				os.Exit(3)
			}
			got := make([]int64, 1)
			if _, err := mpi.Sendrecv(ring, number, (rank+1)%size, 0, got, (rank+size-1)%size, 0); err != nil {
				return err
			}
			number[0] = got[0]*3%1000 + int64(round)
			sum := make([]int64, 1)
			if err := mpi.Allreduce(world, number, sum, mpi.Sum[int64]); err != nil {
				return err
			}
			if rank == 0 {
				fmt.Printf("round %d: %d of %d\n", round, number[0], sum[0])
			}
			time.Sleep(pause)
		}
		return nil
	})
}

// survivor is a program that goes on when a rank is lost: "survivor". Rank 2 dies while all wait
// for each other; rank 0 then broadcasts to the ranks that are left.
func survivor() {
	mpi.Main(func(world *mpi.Comm) error {
		if world.Rank() == 2 {
			os.Exit(7)
		}
		err := world.Barrier()
		if !errors.Is(err, mpi.ErrProcFailed) {
			return fmt.Errorf("the barrier without rank 2 returned %v", err)
		}
		for round := range 100 {
			news := make([]int64, 5000)
			if world.Rank() == 0 {
				for i := range news {
					news[i] = int64(i * round)
				}
			}
			if err := mpi.Bcast(world, news, 0); err != nil {
				return err
			}
			if news[4999] != int64(4999*round) {
				return fmt.Errorf("round %d brought %d", round, news[4999])
			}
		}
		fmt.Println("rank", world.Rank(), "goes on")
		return nil
	}, mpi.SurviveRankLoss())
}

// skewed is a program whose safe points belong together for messages but not for broadcasts:
// "skewed ROUNDS PAUSE LENGTH". Rank 0 has begun, at each safe point, a broadcast that the others
// haven't. It has deaths.
func skewed() {
	rounds, _ := strconv.Atoi(os.Args[1])
	pause, _ := time.ParseDuration(os.Args[2])
	length, _ := strconv.Atoi(os.Args[3])
	mpi.Main(func(world *mpi.Comm) error {
		round, total, news := 0, []int64{0}, make([]int64, length)
		if err := errors.Join(mpi.Register(world, "round", &round), mpi.RegisterSlice(world, "total", total), mpi.RegisterSlice(world, "news", news)); err != nil {
			return err
		}
		deaths := newDeaths()
		for ; round < rounds; round++ {
			deaths.strike(round)
			if world.Rank() != 0 {
				if _, err := world.Safepoint(); err != nil {
					return err
				}
			}
			if world.Rank() == 0 {
				for i := range news {
					news[i] = int64(round*round + i)
				}
			}
			if err := mpi.Bcast(world, news, 0); err != nil {
				return err
			}
			if world.Rank() == 0 {
				if _, err := world.Safepoint(); err != nil {
					return err
				}
			}
			total[0] = total[0]*3%1000003 + news[length-1]
			time.Sleep(pause)
		}
		fmt.Println("rank", world.Rank(), "total", total[0])
		return nil
	})
}
