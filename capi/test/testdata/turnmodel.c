// Members of a window as threads that accumulate at one part, among others and alone, with the C of
// the lane, so that ThreadSanitizer sees whether they keep apart.
//
//	turnmodel ACCUMULATES
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "lane_combine.h"
#include "lane_turn.h"

enum { MEMBERS = 3, COUNT = 40 };

void banyan_lane_released(void) {}

static uint32_t turns[LANE_CACHE_LINE / 4], counts[MEMBERS][LANE_CACHE_LINE / 4];
static uint64_t part[COUNT];
static long accumulates;

static void *member(void *arg)
{
	int self = (int)(intptr_t)arg;
	struct lane_win w = {.turns = turns, .counts = counts, .rows = LANE_CACHE_LINE, .self = self, .members = MEMBERS};
	uint64_t ones[COUNT];
	unsigned seed = (unsigned)self;
	for (int i = 0; i < COUNT; i++)
		ones[i] = 1;
	for (long n = 0; n < accumulates; n++) {
		if (rand_r(&seed) % 3 == 0) {
			while (!begin_alone(&w, 0))
				;
			in_vectors(UINT64, SUM, (char *)part, (char *)ones, COUNT);
			end_alone(&w, 0);
		} else {
			while (!begin_among(&w, 0))
				;
			for (int i = 0; i < COUNT; i++)
				by_instruction(UINT64, SUM, (char *)&part[i], 1);
			end_among(&w, 0);
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t ids[MEMBERS];
	accumulates = argc > 1 ? atol(argv[1]) : 1000;
	for (int i = 0; i < MEMBERS; i++)
		pthread_create(&ids[i], NULL, member, (void *)(intptr_t)i);
	for (int i = 0; i < MEMBERS; i++)
		pthread_join(ids[i], NULL);
	for (int i = 0; i < COUNT; i++)
		if (part[i] != (uint64_t)(MEMBERS * accumulates)) {
			printf("element %d is %ld\n", i, (long)part[i]);
			return 1;
		}
	return 0;
}
