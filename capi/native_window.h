// native_window.h: native.h for one-sided communication; see lane_window.c.
#ifndef BANYAN_NATIVE_WINDOW_H
#define BANYAN_NATIVE_WINDOW_H

#include "banyan.h"
#include "lane_window.h"

static inline int native_Put(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win)
{
	if (banyan_window_put(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win))
		return MPI_SUCCESS;
	GUARD(MPI_Put);
	return RESULT(banyan_Put(POINTER(origin_addr), origin_count, HANDLE(origin_datatype), target_rank, target_disp, target_count, HANDLE(target_datatype), HANDLE(win)));
}

static inline int native_Get(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win)
{
	if (banyan_window_get(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win))
		return MPI_SUCCESS;
	GUARD(MPI_Get);
	return RESULT(banyan_Get(POINTER(origin_addr), origin_count, HANDLE(origin_datatype), target_rank, target_disp, target_count, HANDLE(target_datatype), HANDLE(win)));
}

static inline int native_Accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
	if (banyan_window_accumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win))
		return MPI_SUCCESS;
	GUARD(MPI_Accumulate);
	return RESULT(banyan_Accumulate(POINTER(origin_addr), origin_count, HANDLE(origin_datatype), target_rank, target_disp, target_count, HANDLE(target_datatype), HANDLE(op), HANDLE(win)));
}

static inline int native_Get_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, void *result_addr, int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
	if (banyan_window_fetch(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, op, win))
		return MPI_SUCCESS;
	GUARD(MPI_Get_accumulate);
	return RESULT(banyan_GetAccumulate(POINTER(origin_addr), origin_count, HANDLE(origin_datatype), POINTER(result_addr), result_count, HANDLE(result_datatype), target_rank, target_disp, target_count, HANDLE(target_datatype), HANDLE(op), HANDLE(win)));
}

static inline int native_Rput(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
{
	if (request && banyan_window_put(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win)) {
		*request = BANYAN_SENT;
		return MPI_SUCCESS;
	}
	GUARD(MPI_Rput);
	return RESULT(banyan_Rput(POINTER(origin_addr), origin_count, HANDLE(origin_datatype), target_rank, target_disp, target_count, HANDLE(target_datatype), HANDLE(win), POINTER(request)));
}

static inline int native_Rget(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
{
	if (request && banyan_window_get(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win)) {
		*request = BANYAN_SENT;
		return MPI_SUCCESS;
	}
	GUARD(MPI_Rget);
	return RESULT(banyan_Rget(POINTER(origin_addr), origin_count, HANDLE(origin_datatype), target_rank, target_disp, target_count, HANDLE(target_datatype), HANDLE(win), POINTER(request)));
}

static inline int native_Raccumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
	if (request && banyan_window_accumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win)) {
		*request = BANYAN_SENT;
		return MPI_SUCCESS;
	}
	GUARD(MPI_Raccumulate);
	return RESULT(banyan_Raccumulate(POINTER(origin_addr), origin_count, HANDLE(origin_datatype), target_rank, target_disp, target_count, HANDLE(target_datatype), HANDLE(op), HANDLE(win), POINTER(request)));
}

static inline int native_Rget_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, void *result_addr, int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
	if (request && banyan_window_fetch(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, op, win)) {
		*request = BANYAN_SENT;
		return MPI_SUCCESS;
	}
	GUARD(MPI_Rget_accumulate);
	return RESULT(banyan_RgetAccumulate(POINTER(origin_addr), origin_count, HANDLE(origin_datatype), POINTER(result_addr), result_count, HANDLE(result_datatype), target_rank, target_disp, target_count, HANDLE(target_datatype), HANDLE(op), HANDLE(win), POINTER(request)));
}

static inline int native_Put_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
	if (banyan_window_put(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win))
		return MPI_SUCCESS;
	GUARD(MPI_Put_c);
	return RESULT(banyan_Put(POINTER(origin_addr), origin_count, HANDLE(origin_datatype), target_rank, target_disp, target_count, HANDLE(target_datatype), HANDLE(win)));
}

static inline int native_Get_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
	if (banyan_window_get(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win))
		return MPI_SUCCESS;
	GUARD(MPI_Get_c);
	return RESULT(banyan_Get(POINTER(origin_addr), origin_count, HANDLE(origin_datatype), target_rank, target_disp, target_count, HANDLE(target_datatype), HANDLE(win)));
}

static inline int native_Accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
	if (banyan_window_accumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win))
		return MPI_SUCCESS;
	GUARD(MPI_Accumulate_c);
	return RESULT(banyan_Accumulate(POINTER(origin_addr), origin_count, HANDLE(origin_datatype), target_rank, target_disp, target_count, HANDLE(target_datatype), HANDLE(op), HANDLE(win)));
}

static inline int native_Get_accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
	if (banyan_window_fetch(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, op, win))
		return MPI_SUCCESS;
	GUARD(MPI_Get_accumulate_c);
	return RESULT(banyan_GetAccumulate(POINTER(origin_addr), origin_count, HANDLE(origin_datatype), POINTER(result_addr), result_count, HANDLE(result_datatype), target_rank, target_disp, target_count, HANDLE(target_datatype), HANDLE(op), HANDLE(win)));
}

static inline int native_Rput_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
{
	if (request && banyan_window_put(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win)) {
		*request = BANYAN_SENT;
		return MPI_SUCCESS;
	}
	GUARD(MPI_Rput_c);
	return RESULT(banyan_Rput(POINTER(origin_addr), origin_count, HANDLE(origin_datatype), target_rank, target_disp, target_count, HANDLE(target_datatype), HANDLE(win), POINTER(request)));
}

static inline int native_Rget_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
{
	if (request && banyan_window_get(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win)) {
		*request = BANYAN_SENT;
		return MPI_SUCCESS;
	}
	GUARD(MPI_Rget_c);
	return RESULT(banyan_Rget(POINTER(origin_addr), origin_count, HANDLE(origin_datatype), target_rank, target_disp, target_count, HANDLE(target_datatype), HANDLE(win), POINTER(request)));
}

static inline int native_Raccumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
	if (request && banyan_window_accumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win)) {
		*request = BANYAN_SENT;
		return MPI_SUCCESS;
	}
	GUARD(MPI_Raccumulate_c);
	return RESULT(banyan_Raccumulate(POINTER(origin_addr), origin_count, HANDLE(origin_datatype), target_rank, target_disp, target_count, HANDLE(target_datatype), HANDLE(op), HANDLE(win), POINTER(request)));
}

static inline int native_Rget_accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
	if (request && banyan_window_fetch(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, op, win)) {
		*request = BANYAN_SENT;
		return MPI_SUCCESS;
	}
	GUARD(MPI_Rget_accumulate_c);
	return RESULT(banyan_RgetAccumulate(POINTER(origin_addr), origin_count, HANDLE(origin_datatype), POINTER(result_addr), result_count, HANDLE(result_datatype), target_rank, target_disp, target_count, HANDLE(target_datatype), HANDLE(op), HANDLE(win), POINTER(request)));
}

static inline int native_Fetch_and_op(const void *origin_addr, void *result_addr, MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Op op, MPI_Win win)
{
	if (banyan_window_fetch(origin_addr, 1, datatype, result_addr, 1, datatype, target_rank, target_disp, 1, datatype, op, win))
		return MPI_SUCCESS;
	GUARD(MPI_Fetch_and_op);
	return RESULT(banyan_FetchAndOp(POINTER(origin_addr), POINTER(result_addr), HANDLE(datatype), target_rank, target_disp, HANDLE(op), HANDLE(win)));
}

static inline int native_Compare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr, MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Win win)
{
	if (banyan_window_swap(origin_addr, compare_addr, result_addr, datatype, target_rank, target_disp, win))
		return MPI_SUCCESS;
	GUARD(MPI_Compare_and_swap);
	return RESULT(banyan_CompareAndSwap(POINTER(origin_addr), POINTER(compare_addr), POINTER(result_addr), HANDLE(datatype), target_rank, target_disp, HANDLE(win)));
}

static inline int native_Win_flush(int rank, MPI_Win win)
{
	if (banyan_window_flush(rank, win))
		return MPI_SUCCESS;
	GUARD(MPI_Win_flush);
	return RESULT(banyan_WinFlush(rank, HANDLE(win)));
}

static inline int native_Win_flush_local(int rank, MPI_Win win)
{
	if (banyan_window_flush(rank, win))
		return MPI_SUCCESS;
	GUARD(MPI_Win_flush_local);
	return RESULT(banyan_WinFlushLocal(rank, HANDLE(win)));
}

static inline int native_Win_flush_all(MPI_Win win)
{
	if (banyan_window_flush_all(win))
		return MPI_SUCCESS;
	GUARD(MPI_Win_flush_all);
	return RESULT(banyan_WinFlushAll(HANDLE(win)));
}

static inline int native_Win_flush_local_all(MPI_Win win)
{
	if (banyan_window_flush_all(win))
		return MPI_SUCCESS;
	GUARD(MPI_Win_flush_local_all);
	return RESULT(banyan_WinFlushLocalAll(HANDLE(win)));
}

static inline int native_Win_fence(int assert, MPI_Win win)
{
	if (banyan_window_fence(assert, win))
		return MPI_SUCCESS;
	GUARD(MPI_Win_fence);
	return RESULT(banyan_WinFence(assert, HANDLE(win)));
}

static inline int native_Win_sync(MPI_Win win)
{
	if (banyan_window_sync(win))
		return MPI_SUCCESS;
	GUARD(MPI_Win_sync);
	return RESULT(banyan_WinSync(HANDLE(win)));
}

static inline int native_Win_lock(int lock_type, int rank, int assert, MPI_Win win)
{
	if (banyan_window_lock(lock_type, rank, assert, win))
		return MPI_SUCCESS;
	GUARD(MPI_Win_lock);
	return RESULT(banyan_WinLock(lock_type, rank, assert, HANDLE(win)));
}

static inline int native_Win_unlock(int rank, MPI_Win win)
{
	if (banyan_window_unlock(rank, win))
		return MPI_SUCCESS;
	GUARD(MPI_Win_unlock);
	return RESULT(banyan_WinUnlock(rank, HANDLE(win)));
}

static inline int native_Win_lock_all(int assert, MPI_Win win)
{
	if (banyan_window_lock_all(assert, win))
		return MPI_SUCCESS;
	GUARD(MPI_Win_lock_all);
	return RESULT(banyan_WinLockAll(assert, HANDLE(win)));
}

static inline int native_Win_unlock_all(MPI_Win win)
{
	if (banyan_window_unlock_all(win))
		return MPI_SUCCESS;
	GUARD(MPI_Win_unlock_all);
	return RESULT(banyan_WinUnlockAll(HANDLE(win)));
}

static inline int native_Win_post(MPI_Group group, int assert, MPI_Win win)
{
	if (banyan_window_post(group, assert, win))
		return MPI_SUCCESS;
	GUARD(MPI_Win_post);
	return RESULT(banyan_WinPost(HANDLE(group), assert, HANDLE(win)));
}

static inline int native_Win_start(MPI_Group group, int assert, MPI_Win win)
{
	if (banyan_window_start(group, assert, win))
		return MPI_SUCCESS;
	GUARD(MPI_Win_start);
	return RESULT(banyan_WinStart(HANDLE(group), assert, HANDLE(win)));
}

static inline int native_Win_complete(MPI_Win win)
{
	if (banyan_window_complete(win))
		return MPI_SUCCESS;
	GUARD(MPI_Win_complete);
	return RESULT(banyan_WinComplete(HANDLE(win)));
}

static inline int native_Win_wait(MPI_Win win)
{
	if (banyan_window_wait(win))
		return MPI_SUCCESS;
	GUARD(MPI_Win_wait);
	return RESULT(banyan_WinWait(HANDLE(win)));
}

static inline int native_Win_test(MPI_Win win, int *flag)
{
	if (banyan_window_test(win, flag))
		return MPI_SUCCESS;
	GUARD(MPI_Win_test);
	return RESULT(banyan_WinTest(HANDLE(win), POINTER(flag)));
}

#endif
