// Members of a window as threads that lock two parts in all ways, and tell each other events, with
// the C of the lane, so that ThreadSanitizer sees whether they keep apart.
//
//	lockmodel LOCKS
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "lane_lock.h"

enum { MEMBERS = 3, PARTS = 2, ROW = LANE_CACHE_LINE, MEMBER = 4 * ROW };

void banyan_lane_released(void) {}

static uint32_t turns[MEMBERS][LANE_CACHE_LINE / 4];
static char rows[MEMBERS][MEMBER] __attribute__((aligned(64)));
static long data[PARTS], given[MEMBERS], locks, sums[MEMBERS], adds[MEMBERS];

static void *member(void *arg)
{
	int self = (int)(intptr_t)arg, from = (self + MEMBERS - 1) % MEMBERS;
	struct lane_win w = {.turns = turns, .counts = rows, .rows = MEMBER, .row = ROW, .self = self, .members = MEMBERS};
	unsigned seed = (unsigned)self;
	for (uint32_t n = 0; n < locks; n++) {
		int part = rand_r(&seed) % PARTS;
		switch (rand_r(&seed) % 4) {
		case 0:
			while (!lock_all(&w))
				;
			sums[self] += data[0] + data[1];
			unlock_all(&w);
			break;
		case 1:
			while (!lock_shared(&w, part))
				;
			sums[self] += data[part];
			unlock_part(&w, part, false);
			break;
		default:
			while (!lock_alone(&w, part))
				;
			data[part]++;
			adds[self]++;
			unlock_part(&w, part, true);
		}
		if (n % 16 == 0) { // this member's number is given to the next one, and taken from the one before
			given[self] = n;
			tell(&w, LANE_EVENT_POSTED, (self + 1) % MEMBERS);
			while (!told(&w, LANE_EVENT_POSTED, from, n / 16))
				sched_yield();
			sums[self] += given[from];
			tell(&w, LANE_EVENT_COMPLETED, from);
			while (!told(&w, LANE_EVENT_COMPLETED, (self + 1) % MEMBERS, n / 16))
				sched_yield();
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t ids[MEMBERS];
	long all = 0;
	locks = argc > 1 ? atol(argv[1]) : 1000;
	for (int i = 0; i < MEMBERS; i++)
		pthread_create(&ids[i], NULL, member, (void *)(intptr_t)i);
	for (int i = 0; i < MEMBERS; i++)
		pthread_join(ids[i], NULL);
	for (int i = 0; i < MEMBERS; i++)
		all += adds[i];
	if (data[0] + data[1] != all) {
		printf("%ld of %ld\n", data[0] + data[1], all);
		return 1;
	}
	return 0;
}
