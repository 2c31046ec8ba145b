package binding

import (
	"errors"
	"fmt"

	"banyan/internal/mpi/comm"
	"banyan/internal/mpi/rma"
	"banyan/internal/runtime/process"
)

// The error classes of fault tolerance (ULFM). The standard's ABI has no numbers for them yet.
// These are provisional: mpi-ext.h has them too.
const (
	ErrProcFailed        Code = 16128
	ErrProcFailedPending Code = 16129
	ErrRevoked           Code = 16130
)

// classes are the error classes: their names and short meanings.
var classes = map[Code][2]string{
	Success:                 {"MPI_SUCCESS", "no error"},
	ErrBuffer:               {"MPI_ERR_BUFFER", "invalid buffer"},
	ErrCount:                {"MPI_ERR_COUNT", "invalid count"},
	ErrType:                 {"MPI_ERR_TYPE", "invalid datatype"},
	ErrTag:                  {"MPI_ERR_TAG", "invalid tag"},
	ErrComm:                 {"MPI_ERR_COMM", "invalid communicator"},
	ErrRank:                 {"MPI_ERR_RANK", "invalid rank"},
	ErrRequest:              {"MPI_ERR_REQUEST", "invalid request"},
	ErrRoot:                 {"MPI_ERR_ROOT", "invalid root"},
	ErrGroup:                {"MPI_ERR_GROUP", "invalid group"},
	ErrOp:                   {"MPI_ERR_OP", "invalid operation"},
	ErrTopology:             {"MPI_ERR_TOPOLOGY", "no such topology here"},
	ErrDims:                 {"MPI_ERR_DIMS", "invalid dimensions"},
	ErrArg:                  {"MPI_ERR_ARG", "invalid argument"},
	ErrUnknown:              {"MPI_ERR_UNKNOWN", "unknown error"},
	ErrTruncate:             {"MPI_ERR_TRUNCATE", "the message is larger than its receive buffer"},
	ErrOther:                {"MPI_ERR_OTHER", "an error that has no class of its own"},
	ErrIntern:               {"MPI_ERR_INTERN", "an error inside the library"},
	ErrPending:              {"MPI_ERR_PENDING", "the request has not ended yet"},
	ErrInStatus:             {"MPI_ERR_IN_STATUS", "the statuses hold the errors"},
	ErrAccess:               {"MPI_ERR_ACCESS", "no permission to open the file"},
	ErrAmode:                {"MPI_ERR_AMODE", "invalid access mode of a file"},
	ErrAssert:               {"MPI_ERR_ASSERT", "invalid assertion"},
	ErrBadFile:              {"MPI_ERR_BAD_FILE", "invalid file name"},
	ErrBase:                 {"MPI_ERR_BASE", "invalid base address of memory"},
	ErrConversion:           {"MPI_ERR_CONVERSION", "a conversion of data failed"},
	ErrDisp:                 {"MPI_ERR_DISP", "invalid displacement"},
	ErrDupDatarep:           {"MPI_ERR_DUP_DATAREP", "the data representation is defined already"},
	ErrFileExists:           {"MPI_ERR_FILE_EXISTS", "the file exists already"},
	ErrFileInUse:            {"MPI_ERR_FILE_IN_USE", "the file is in use"},
	ErrFile:                 {"MPI_ERR_FILE", "invalid file handle"},
	ErrInfoKey:              {"MPI_ERR_INFO_KEY", "invalid key"},
	ErrInfoNokey:            {"MPI_ERR_INFO_NOKEY", "no such key"},
	ErrInfoValue:            {"MPI_ERR_INFO_VALUE", "invalid value of a key"},
	ErrInfo:                 {"MPI_ERR_INFO", "invalid info object"},
	ErrIo:                   {"MPI_ERR_IO", "input or output failed"},
	ErrKeyval:               {"MPI_ERR_KEYVAL", "invalid attribute key"},
	ErrLocktype:             {"MPI_ERR_LOCKTYPE", "invalid lock type"},
	ErrName:                 {"MPI_ERR_NAME", "no such service name"},
	ErrNoMem:                {"MPI_ERR_NO_MEM", "out of memory"},
	ErrNotSame:              {"MPI_ERR_NOT_SAME", "the ranks' arguments differ where they must not"},
	ErrNoSpace:              {"MPI_ERR_NO_SPACE", "no space left"},
	ErrNoSuchFile:           {"MPI_ERR_NO_SUCH_FILE", "there is no such file"},
	ErrPort:                 {"MPI_ERR_PORT", "invalid port name"},
	ErrQuota:                {"MPI_ERR_QUOTA", "quota exceeded"},
	ErrReadOnly:             {"MPI_ERR_READ_ONLY", "the file or file system can only be read"},
	ErrRmaAttach:            {"MPI_ERR_RMA_ATTACH", "memory can't be attached to the window"},
	ErrRmaConflict:          {"MPI_ERR_RMA_CONFLICT", "conflicting accesses to a window"},
	ErrRmaRange:             {"MPI_ERR_RMA_RANGE", "memory outside the window"},
	ErrRmaShared:            {"MPI_ERR_RMA_SHARED", "memory can't be shared"},
	ErrRmaSync:              {"MPI_ERR_RMA_SYNC", "wrong synchronisation of a window"},
	ErrService:              {"MPI_ERR_SERVICE", "invalid service name"},
	ErrSize:                 {"MPI_ERR_SIZE", "invalid size"},
	ErrSpawn:                {"MPI_ERR_SPAWN", "processes can't be started"},
	ErrUnsupportedDatarep:   {"MPI_ERR_UNSUPPORTED_DATAREP", "unsupported data representation"},
	ErrUnsupportedOperation: {"MPI_ERR_UNSUPPORTED_OPERATION", "unsupported operation"},
	ErrWin:                  {"MPI_ERR_WIN", "invalid window"},
	ErrRmaFlavor:            {"MPI_ERR_RMA_FLAVOR", "wrong kind of window"},
	ErrProcAborted:          {"MPI_ERR_PROC_ABORTED", "a rank that is needed has died"},
	ErrValueTooLarge:        {"MPI_ERR_VALUE_TOO_LARGE", "the value doesn't fit"},
	ErrSession:              {"MPI_ERR_SESSION", "invalid session"},
	ErrErrhandler:           {"MPI_ERR_ERRHANDLER", "invalid error handler"},
	ErrAbi:                  {"MPI_ERR_ABI", "the ABI's settings don't allow this"},
	TErrCannotInit:          {"MPI_T_ERR_CANNOT_INIT", "the tool interface can't be initialised"},
	TErrNotAccessible:       {"MPI_T_ERR_NOT_ACCESSIBLE", "not accessible"},
	TErrNotInitialized:      {"MPI_T_ERR_NOT_INITIALIZED", "the tool interface isn't initialised"},
	TErrNotSupported:        {"MPI_T_ERR_NOT_SUPPORTED", "not supported by the tool interface"},
	TErrMemory:              {"MPI_T_ERR_MEMORY", "out of memory"},
	TErrInvalid:             {"MPI_T_ERR_INVALID", "invalid argument"},
	TErrInvalidIndex:        {"MPI_T_ERR_INVALID_INDEX", "invalid index"},
	TErrInvalidItem:         {"MPI_T_ERR_INVALID_ITEM", "invalid item"},
	TErrInvalidSession:      {"MPI_T_ERR_INVALID_SESSION", "invalid session"},
	TErrInvalidHandle:       {"MPI_T_ERR_INVALID_HANDLE", "invalid handle"},
	TErrInvalidName:         {"MPI_T_ERR_INVALID_NAME", "invalid name"},
	TErrOutOfHandles:        {"MPI_T_ERR_OUT_OF_HANDLES", "no more handles"},
	TErrOutOfSessions:       {"MPI_T_ERR_OUT_OF_SESSIONS", "no more sessions"},
	TErrCvarSetNotNow:       {"MPI_T_ERR_CVAR_SET_NOT_NOW", "the variable can't be set now"},
	TErrCvarSetNever:        {"MPI_T_ERR_CVAR_SET_NEVER", "the variable can't be set"},
	TErrPvarNoWrite:         {"MPI_T_ERR_PVAR_NO_WRITE", "the variable can't be written"},
	TErrPvarNoStartstop:     {"MPI_T_ERR_PVAR_NO_STARTSTOP", "the variable can't be started and stopped"},
	TErrPvarNoAtomic:        {"MPI_T_ERR_PVAR_NO_ATOMIC", "the variable can't be reset while read"},
	ErrProcFailed:           {"MPIX_ERR_PROC_FAILED", "a rank that is needed has failed"},
	ErrProcFailedPending:    {"MPIX_ERR_PROC_FAILED_PENDING", "a rank that a receive from any source may wait for has failed; the receive goes on"},
	ErrRevoked:              {"MPIX_ERR_REVOKED", "the communicator has been revoked"},
	ErrLastcode:             {"MPI_ERR_LASTCODE", "the last predefined error code"},
}

// className names a class in messages.
func className(code Code) string {
	if c, ok := classes[code]; ok {
		return c[0]
	}
	return fmt.Sprintf("error %d", code)
}

// classOfError is the class of an error from internal/mpi/comm or the layers below it.
func classOfError(err error) Code {
	if code, is := asCode(err); is {
		return code
	}
	switch {
	case errors.Is(err, process.ErrPending):
		return ErrProcFailedPending
	case errors.Is(err, process.ErrRankLost), errors.Is(err, process.ErrClosed), errors.Is(err, process.ErrFenced): // the latter two of connections
		return ErrProcFailed
	case errors.Is(err, process.ErrRevoked):
		return ErrRevoked
	case errors.Is(err, process.ErrTruncated), errors.Is(err, comm.ErrMismatch):
		return ErrTruncate
	case errors.Is(err, rma.ErrRange):
		return ErrRmaRange
	case errors.Is(err, rma.ErrSync):
		return ErrRmaSync
	case errors.Is(err, rma.ErrReplicas):
		return ErrUnsupportedOperation
	case errors.As(err, new(*rma.AttachError)):
		return ErrRmaAttach
	case errors.Is(err, comm.ErrFar):
		return ErrUnsupportedOperation
	case errors.Is(err, comm.ErrMemory):
		return ErrNoMem
	case errors.Is(err, comm.ErrNoShare):
		return ErrRmaShared
	case errors.Is(err, comm.ErrAbandoned):
		return ErrRmaSync
	case errors.Is(err, comm.ErrRank):
		return ErrRank
	case errors.Is(err, comm.ErrOverlap):
		return ErrComm
	case errors.Is(err, comm.ErrHigh):
		return ErrArg
	case errors.Is(err, comm.ErrTag):
		return ErrTag
	case errors.Is(err, comm.ErrSize):
		return ErrCount
	case errors.Is(err, process.ErrFreed):
		return ErrComm
	}
	if code, is := classOfConnection(err); is {
		return code
	}
	if code, is := classOfFile(err); is {
		return code
	}
	return ErrOther
}
