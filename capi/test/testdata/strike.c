/* strike ends a program's processes in certain steps of theirs, each once, however busy the machine
   is: a planned fault with a time may come before the first snapshot, or find a process that is
   just being replaced. It is linked into the program, and counts its calls of a function that it
   calls once a step:

     mpicc program.c strike.c -Wl,--wrap=PMPIX_Safepoint,--wrap=mpix_safepoint_
     mpicc program.c strike.c -Wl,--wrap=usleep

   STRIKE is "DIRECTORY PROCESS:CALL:MICROSECONDS ...": a process dies so long after that call, of
   those since it began, from 1. The directory keeps which deaths have been. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Ends the process in so many microseconds, while the program goes on. */
static void strike(int microseconds)
{
	if (microseconds == 0)
		kill(getpid(), SIGKILL);
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
	struct itimerspec when = {.it_value = {microseconds / 1000000, microseconds % 1000000 * 1000L}};
	timer_t timer;
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &when, NULL) != 0)
		abort();
}

static void count(void)
{
	static int calls;
	const char *plan = getenv("STRIKE"), *process = getenv("PMI_RANK");
	char directory[256], mark[300];
	int skip, at, call, microseconds;
	calls++;
	if (plan == NULL || process == NULL || sscanf(plan, "%255s%n", directory, &skip) != 1)
		return;
	for (plan += skip; sscanf(plan, " %d:%d:%d%n", &at, &call, &microseconds, &skip) == 3; plan += skip) {
		if (at != atoi(process) || call > calls)
			continue;
		snprintf(mark, sizeof mark, "%s/%d-%d", directory, at, call);
		int file = open(mark, O_CREAT | O_EXCL, 0600);
		if (file < 0)
			continue; /* before this process was replaced, or the job went back */
		close(file);
		strike(microseconds);
	}
}

int __real_PMPIX_Safepoint(int *restored) __attribute__((weak));
int __wrap_PMPIX_Safepoint(int *restored);
int __wrap_PMPIX_Safepoint(int *restored)
{
	count();
	return __real_PMPIX_Safepoint(restored);
}

void __real_mpix_safepoint_(int *restored, int *code) __attribute__((weak));
void __wrap_mpix_safepoint_(int *restored, int *code);
void __wrap_mpix_safepoint_(int *restored, int *code)
{
	count();
	__real_mpix_safepoint_(restored, code);
}

int __real_usleep(useconds_t microseconds) __attribute__((weak));
int __wrap_usleep(useconds_t microseconds);
int __wrap_usleep(useconds_t microseconds)
{
	count();
	return __real_usleep(microseconds);
}
