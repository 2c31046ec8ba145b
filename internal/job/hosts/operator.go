package hosts

import "fmt"

// operatorFiles are the variables that name the host file of a job of the MPI Operator, for the
// kinds of MPI that it knows.
var operatorFiles = []string{
	"HYDRA_HOST_FILE", "I_MPI_HYDRA_HOST_FILE", "OMPI_MCA_orte_default_hostfile", "PRTE_MCA_prte_default_hostfile",
}

// operatorSlots are those that say how many slots a host of the file without a number has.
var operatorSlots = []string{"OMPI_MCA_orte_set_default_slots", "PRTE_MCA_prte_set_default_slots", "I_MPI_PERHOST"}

// findOperator finds the hosts of a job of Kubernetes' MPI Operator. Users of MPICH, Intel MPI and
// Open MPI set the same variables themselves, and mean the same.
func findOperator(s System) (*Allocation, error) {
	variable, name := s.first(operatorFiles...)
	if name == "" {
		return nil, nil
	}
	list, err := s.readFile(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", variable, err)
	}
	if variable, text := s.first(operatorSlots...); text != "" && list.Slots() == 0 {
		n, err := number(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", variable, err)
		}
		for i := range list {
			list[i].Slots = n
		}
	}
	return &Allocation{By: variable + " (" + name + ")", Hosts: list}, nil
}
