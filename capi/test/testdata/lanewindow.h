// lanewindow.h: windows, which are part of lane.c's programs. Two ranks start some receives and some
// sends to each other, and end them in one of several ways. Tags come twice, and receives may take any,
// so which message a receive gets depends on the order of both. Beside them a receive is cancelled, a
// request is freed, and a message is probed for that no receive takes.

enum { WIDE = 12, WINDOW_LARGEST = 20000, PROBED_FOR = 2, NEVER_SENT = 3 };

struct message {
	int tag, bytes;
};

struct window {
	int count, base, anyhow; // receives, tags, what else is random
	struct message sent[WIDE];
	int wanted[WIDE], gets[WIDE]; // by receive: its tag, and the message that it gets
};

// window makes the messages of one direction, and the receives for them.
static struct window window(const struct program *p, int k, int from, int tag)
{
	uint64_t r = mix(mix(p->seed * 1000003 + k) + 77 + from);
	struct window w = {.count = 1 + r % WIDE, .base = tag * 4, .anyhow = r >> 8 & 0xffff};
	int sizes[] = {8, 0, 1, 8, 24, 8, 1000, 4096, 8, 8, 4097, WINDOW_LARGEST}, order[WIDE], taken[WIDE] = {0}, all = 1;
	for (int i = 0; i < w.count; i++) {
		uint64_t x = mix(r + i);
		w.sent[i] = (struct message){x % 2, sizes[(x >> 8) % (p->seed % 2 ? 10 : 12)]}; // see event's calm
		order[i] = i;
	}
	for (int i = 0; i < w.count; i++) {
		uint64_t x = mix(r + 100 + i);
		int other = x % w.count, o = order[i];
		order[i] = order[other], order[other] = o;
		w.wanted[i] = -1;
	}
	for (int i = 0; i < w.count; i++) {
		w.wanted[i] = mix(r + 200 + i) % 3 == 0 ? MPI_ANY_TAG : w.sent[order[i]].tag;
		int m = 0;
		while (m < w.count && (taken[m] || (w.wanted[i] != MPI_ANY_TAG && w.wanted[i] != w.sent[m].tag)))
			m++;
		if ((all = all && m < w.count))
			taken[w.gets[i] = m] = 1;
	}
	for (int i = 0; i < w.count && !all; i++) // some receive would get nothing
		w.wanted[i] = w.sent[i].tag, w.gets[i] = i;
	return w;
}

static int all_over(MPI_Request *requests, int count)
{
	for (int i = 0; i < count; i++)
		if (requests[i] != MPI_REQUEST_NULL)
			return 0;
	return 1;
}

// end_all ends requests in the manner of a number.
static void end_all(MPI_Request *requests, MPI_Status *statuses, int count, uint64_t manner)
{
	MPI_Status some[2 * WIDE];
	int flag = 0, index, indices[2 * WIDE];
	switch (manner % 8) {
	case 0:
		for (int i = 0; i < count; i++)
			OK(MPI_Wait(&requests[(i * 5 + manner / 8) % count], &statuses[(i * 5 + manner / 8) % count]));
		for (int i = 0; i < count; i++) // five and count may have a common factor
			if (requests[i] != MPI_REQUEST_NULL)
				OK(MPI_Wait(&requests[i], &statuses[i]));
		break;
	case 1:
		for (;;) {
			MPI_Status s;
			OK(MPI_Waitany(count, requests, &index, &s));
			if (index == MPI_UNDEFINED)
				break;
			statuses[index] = s;
		}
		break;
	case 2:
		for (int n = 0; n != MPI_UNDEFINED;) {
			OK(MPI_Waitsome(count, requests, &n, indices, some));
			for (int i = 0; i < n && n != MPI_UNDEFINED; i++)
				statuses[indices[i]] = some[i];
		}
		break;
	case 3:
		for (int i = 0; !all_over(requests, count); i = (i + 1) % count) {
			MPI_Status s;
			if (requests[i] == MPI_REQUEST_NULL)
				continue;
			MPI_Request copy = requests[i];
			OK(MPI_Test(&copy, &flag, &s));
			if (flag)
				statuses[i] = s, requests[i] = copy;
		}
		break;
	case 4:
		while (!flag)
			OK(MPI_Testall(count, requests, &flag, statuses));
		break;
	case 5:
		for (int i = count - 1; i >= 0; i--) {
			for (flag = 0; !flag && requests[i] != MPI_REQUEST_NULL;)
				OK(MPI_Request_get_status(requests[i], &flag, MPI_STATUS_IGNORE));
			OK(MPI_Wait(&requests[i], &statuses[i]));
		}
		break;
	default:
		OK(MPI_Waitall(count, requests, statuses));
	}
}

static void windows(struct program *p, int k, const struct event *e)
{
	int peer = e->from == p->rank ? e->to : e->from;
	MPI_Comm comm = p->comms[COMMS - 1];
	struct window in_ = window(p, k, peer, e->tag), out = window(p, k, p->rank, e->tag);
	uint64_t manner = mix(p->seed + k + p->rank);
	MPI_Request requests[2 * WIDE], cancelled = MPI_REQUEST_NULL;
	MPI_Status statuses[2 * WIDE], received[WIDE], s;
	char *data[WIDE], *buffers[WIDE], extra[8], got[8], none[8];
	int blocked[WIDE] = {0}, freed = -1, flag;
	for (int i = 0; i < out.count; i++) {
		data[i] = malloc(out.sent[i].bytes + 1);
		fill(p, k * WIDE + i, data[i], out.sent[i].bytes);
	}
	for (int i = 0; i < 2 * WIDE; i++)
		requests[i] = MPI_REQUEST_NULL;
	for (int first = manner % 2, turn = 0; turn < 2; turn++) {
		if (turn == first) {
			for (int i = 0; i < out.count; i++)
				OK(MPI_Isend(data[i], out.sent[i].bytes, MPI_BYTE, peer, out.base + out.sent[i].tag, comm, &requests[WIDE + i]));
			continue;
		}
		for (int i = 0; i < in_.count; i++) {
			int tag = in_.wanted[i] == MPI_ANY_TAG ? MPI_ANY_TAG : in_.base + in_.wanted[i];
			int bytes = in_.sent[in_.gets[i]].bytes, source = tag != MPI_ANY_TAG && mix(manner + i) % 10 == 0 && (manner >> 13 & 1) ? MPI_ANY_SOURCE : peer;
			buffers[i] = malloc(WINDOW_LARGEST + 1);
			memset(buffers[i], 0x55, WINDOW_LARGEST + 1);
			if (turn > first && mix(manner + i) % 10 == 1) { // what is for it has been sent, or is being
				OK(MPI_Recv(buffers[i], bytes, MPI_BYTE, source, tag, comm, &received[i]));
				blocked[i] = 1;
			} else
				OK(MPI_Irecv(buffers[i], bytes, MPI_BYTE, source, tag, comm, &requests[i]));
		}
		if (manner >> 8 & 1)
			OK(MPI_Irecv(none, 8, MPI_BYTE, peer, in_.base + NEVER_SENT, comm, &cancelled));
	}
	memset(extra, k, sizeof extra);
	OK(MPI_Send(extra, 8, MPI_BYTE, peer, out.base + PROBED_FOR, comm));
	if (cancelled != MPI_REQUEST_NULL) {
		OK(MPI_Cancel(&cancelled));
		OK(MPI_Wait(&cancelled, &s));
		OK(MPI_Test_cancelled(&s, &flag));
		CHECK(flag);
	}
	if (manner >> 9 & 1 && requests[0] != MPI_REQUEST_NULL && in_.sent[in_.gets[0]].bytes <= 4096) {
		freed = 0; // it comes before the extra message
		OK(MPI_Request_free(&requests[0]));
	}
	for (int turn = 0; turn < 2; turn++) {
		if (turn == (manner >> 10 & 1)) {
			end_all(requests, statuses, 2 * WIDE, manner >> 16);
			continue;
		}
		// Every other message has a receive, so any tag is good for the probe.
		if (manner >> 11 & 1)
			OK(MPI_Probe(peer, manner >> 12 & 1 ? MPI_ANY_TAG : in_.base + PROBED_FOR, comm, &s));
		else
			for (flag = 0; !flag;)
				OK(MPI_Iprobe(peer, manner >> 12 & 1 ? MPI_ANY_TAG : in_.base + PROBED_FOR, comm, &flag, &s));
		CHECK(s.MPI_SOURCE == peer && s.MPI_TAG == in_.base + PROBED_FOR);
		OK(MPI_Recv(got, 8, MPI_BYTE, peer, MPI_ANY_TAG, comm, &s));
		CHECK(s.MPI_TAG == in_.base + PROBED_FOR && memcmp(got, extra, 8) == 0);
	}
	for (int i = 0; i < in_.count; i++) {
		struct message *m = &in_.sent[in_.gets[i]];
		struct event as = {.from = peer, .tag = in_.base + m->tag, .bytes = m->bytes, .buffer = buffers[i]};
		if (i == freed) {
			statuses[i].MPI_SOURCE = peer, statuses[i].MPI_TAG = as.tag;
			MPI_Status_set_elements(&statuses[i], MPI_BYTE, m->bytes);
		}
		check(p, k * WIDE + in_.gets[i], &as, blocked[i] ? &received[i] : &statuses[i]);
	}
	for (int i = 0; i < out.count; i++)
		free(data[i]);
}
