package binding

import (
	"os"
	"runtime"
)

// GetProcessorName is MPI_Get_processor_name: the host's.
func (p *Process) GetProcessorName(name *byte, resultlen *int32) Code {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	*resultlen = setString(name, MaxProcessorName, host)
	return Success
}

// GetLibraryVersion is MPI_Get_library_version.
func (p *Process) GetLibraryVersion(version *byte, resultlen *int32) Code {
	*resultlen = setString(version, MaxLibraryVersionString, "Banyan, an MPI whose jobs outlive deaths; standard ABI of MPI 5.0; built with "+runtime.Version())
	return Success
}

// GetHwResourceInfo is MPI_Get_hw_resource_info: the library knows only a host's shared memory.
func (p *Process) GetHwResourceInfo(hwInfo *Info) Code {
	i := &info{}
	i.set("mpi_shared_memory", "true")
	*hwInfo = Info(p.infos.add(i))
	return Success
}
