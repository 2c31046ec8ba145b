package test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"banyan/abi"
	"banyan/internal/testing/cprogram"
)

// Every pointer of every function of the standard's table is NULL in turn, in calls whose other
// arguments are good. No call may end the process or wait for ever. Where a result of one element
// would be stored, or a status is asked for something, the error is MPI_ERR_ARG. Left out is what
// may be NULL or can't be told from what may: see nullable.
func TestEveryNull(t *testing.T) {
	table, err := abi.Load()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	b.WriteString(nullBegin)
	var cases []nullCase
	for _, f := range append(table.Functions, extensions(t)...) {
		params, err := f.List()
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range params {
			if !strings.Contains(p.Type, "*") && p.Array == "" || nullable(f.Name, p) {
				continue
			}
			var args []string
			for j, q := range params {
				if args = append(args, goodArgument(f.Name, q)); i == j {
					args[j] = "NULL"
				}
			}
			fmt.Fprintf(&b, "\tif (TURN(%d)) END(%d, %s(%s));\n", len(cases), len(cases), f.Name, strings.Join(args, ", "))
			cases = append(cases, nullCase{f.Name, p})
		}
	}
	b.WriteString(nullEnd)
	source, program := filepath.Join(cprogram.Dir(), "everynull.c"), filepath.Join(cprogram.Dir(), "everynull")
	if err := os.WriteFile(source, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-w", "-I", cprogram.Header(), "-o", program, source, cprogram.Library(), "-Wl,-rpath,"+filepath.Join(cprogram.Dir(), "lib")).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	file := filepath.Join(t.TempDir(), "file")
	first := 0
	for deaths := 0; first < len(cases); {
		o := cprogram.Run(t, program, strconv.Itoa(first), file)
		for line := range strings.Lines(o.Stdout) {
			var n, class int
			if k, _ := fmt.Sscanf(line, "%d %d", &n, &class); k == 2 {
				cases[n].check(t, class)
				first = n + 1
			}
		}
		if o.Code == 0 {
			break
		}
		if first < len(cases) {
			t.Errorf("%v: %v %s", cases[first], o.Signal, o.Stderr)
		}
		if first, deaths = first+1, deaths+1; deaths == 40 {
			t.Fatal("and so on")
		}
	}
	if first < len(cases) {
		t.Errorf("the program ended before %v", cases[first])
	}
	t.Logf("%d pointers were NULL", len(cases))
}

// extensions are the functions for fault tolerance, which mpi-ext.h declares.
func extensions(t *testing.T) (all []abi.Function) {
	text, err := os.ReadFile(cprogram.Source("abi", "mpi-ext.h"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^(?:BANYAN_NAMES\(|int MPIX_)(Comm_\w+),? ?\((.*?)\)`).FindAllStringSubmatch(string(text), -1) {
		all = append(all, abi.Function{Name: "MPIX_" + m[1], Returns: "int", Params: m[2]})
	}
	if len(all) != 12 {
		t.Errorf("mpi-ext.h has %d functions for fault tolerance", len(all))
	}
	return all
}

// nullCase is a parameter of a function that is NULL.
type nullCase struct {
	function string
	param    abi.Param
}

func (c nullCase) String() string { return c.function + " with " + c.param.String() + " NULL" }

// oneResult are the types of pointers to one result.
var oneResult = regexp.MustCompile(`^(int|MPI_[A-Z][a-z]+) \*$`)

func (c nullCase) check(t *testing.T, class int) {
	t.Helper()
	const errArg = 13
	asked := strings.HasPrefix(c.function, "MPI_Status_") || c.param.Type == "const MPI_Status *"
	result := c.param.Array == "" && c.param.Type != "MPI_Status *" && oneResult.MatchString(c.param.Type) && !strings.HasPrefix(c.function, "MPI_T_")
	if (asked || result) && class != errArg {
		t.Errorf("%v: class %d, not MPI_ERR_ARG", c, class)
	}
}

// nullable are the parameters that aren't tried.
func nullable(function string, p abi.Param) bool {
	switch base := strings.TrimRight(strings.TrimPrefix(p.Type, "const "), " *"); {
	case function == "MPI_Init" || function == "MPI_Init_thread" || function == "MPI_Finalize" || function == "MPI_Abort":
		return true // they begin and end MPI
	case strings.HasSuffix(base, "_function") || strings.HasSuffix(base, "_fn"), strings.HasSuffix(base, "_function_c"):
		return true // a function that isn't called yet
	case base == "void" && p.Name != "baseptr" && p.Name != "buffer_addr":
		return true // a buffer: NULL is MPI_BOTTOM
	}
	return false
}

// goodArgument is an argument that the function takes, in C.
func goodArgument(function string, p abi.Param) string {
	name := strings.TrimPrefix(function, "MPI_")
	base := strings.TrimRight(strings.TrimPrefix(p.Type, "const "), " *")
	indirect := strings.Contains(p.Type, "*") || p.Array != ""
	for _, g := range goodArguments {
		if (g.function == "" || regexp.MustCompile("^("+g.function+")$").MatchString(name)) && (g.name == "" || g.name == p.Name) && (g.base == "" || g.base == base) && g.indirect == indirect {
			return g.value
		}
	}
	if indirect {
		return "scratch()"
	}
	return "0"
}

// goodArguments are the arguments of parameters, the more special ones first.
var goodArguments = []struct {
	function, base, name string // a pattern of the functions, a type, a name; "": all
	indirect             bool
	value                string
}{
	{"Comm_free|Comm_disconnect", "MPI_Comm", "", true, "duplicate()"},
	{"", "MPI_Comm_copy_attr_function", "", true, "MPI_COMM_NULL_COPY_FN"},
	{"Error_string|Error_class|Add_error_string|.*call_errhandler", "int", "errorcode", false, "MPI_ERR_ARG"},
	{"Cart_(get|rank|coords|shift|sub)|Cartdim_get", "MPI_Comm", "", false, "cart"},
	{"I?[Nn]eighbor.*", "MPI_Comm", "", false, "cart"},
	{"Graph_get|Graphdims_get|Graph_neighbors.*", "MPI_Comm", "", false, "graph"},
	{"Dist_graph_neighbors.*", "MPI_Comm", "", false, "dist"},
	{"Intercomm_create", "int", "remote_leader", false, "0"},
	{"Comm_spawn.*", "char", "command", true, "\"/nowhere/banyan\""},
	{"Comm_spawn_multiple", "char", "array_of_commands", true, "commands"},
	{"Comm_spawn_multiple", "char", "array_of_argv", true, "MPI_ARGVS_NULL"},
	{"Comm_spawn.*|Info_create_env", "char", "argv", true, "MPI_ARGV_NULL"},
	{"Comm_spawn_multiple", "MPI_Info", "array_of_info", true, "infos"},
	{"Comm_join", "int", "fd", false, "-1"},
	{"Info_(get|set|delete).*", "char", "key", true, "\"key\""},
	{"File_(open|delete)", "char", "filename", true, "file_name"},
	{"File_open", "", "amode", false, "MPI_MODE_CREATE | MPI_MODE_RDWR"},
	{"File_close", "MPI_File", "", true, "scratch()"},
	{"", "MPI_Offset", "", false, "0"},
	{"Session_get_pset_info|Group_from_session_pset", "char", "pset_name", true, "\"mpi://SELF\""},
	{".*xternal.*", "char", "datarep", true, "\"external32\""},
	{"", "char", "datarep", true, "\"native\""},
	{"Comm_create_keyval|Type_create_keyval|Win_create_keyval|Keyval_create", "", "extra_state", true, "NULL"},
	{"Comm_.*attr|Attr_.*", "int", "", false, "MPI_TAG_UB"},
	{"Win_.*attr", "int", "", false, "MPI_WIN_SIZE"},
	{"Type_get_contents.*", "MPI_Datatype", "datatype", false, "made"},
	{"Type_commit", "MPI_Datatype", "", true, "&made"},
	{"Type_free", "MPI_Datatype", "", true, "scratch()"},
	{"Type_get_contents.*", "", "max_integers", false, "1"},
	{"Type_get_contents.*", "", "max_datatypes", false, "1"},
	{"Type_create_darray.*|Type_create_subarray.*", "int", "order", false, "MPI_ORDER_C"},
	{"Type_create_darray.*", "int", "array_of_distribs", true, "distributions"},
	{"Type_create_darray.*", "int", "array_of_dargs", true, "distributions"},
	{"Type_create_f90.*", "int", "", false, "5"},
	{"Type_match_size", "int", "typeclass", false, "MPI_TYPECLASS_INTEGER"},
	{"Type_match_size", "int", "size", false, "4"},
	{"Type_create_struct.*|.*lltoallw.*", "MPI_Datatype", "", true, "types"},
	{"Pready.*|Parrived|Grequest_complete", "MPI_Request", "", false, "MPI_REQUEST_NULL"},
	{"Pready_list", "int", "", false, "1"},
	{"Init_thread|T_init_thread", "int", "required", false, "MPI_THREAD_SINGLE"},
	{"Win_lock", "int", "lock_type", false, "MPI_LOCK_SHARED"},
	{"Comm_split_type", "int", "split_type", false, "MPI_COMM_TYPE_SHARED"},
	{"T_cvar_handle_alloc|T_cvar_get_info", "", "cvar_index", false, "0"},
	{"T_cvar_(read|write)", "MPI_T_cvar_handle", "", false, "variable"},
	{"T_pvar.*", "MPI_T_pvar_session", "session", false, "measurements"},
	{"T_pvar.*", "MPI_T_pvar_handle", "handle", false, "counter"},
	{"Group_range_.*", "int", "ranges", true, "ranges"},
	{"Group_excl", "int", "n", false, "1"},
	{"Dist_graph_create.*", "int", "sourceweights", true, "ones"},
	{"Dist_graph_create.*", "int", "sources", true, "zeros"},
	{"Dist_graph_create.*", "int", "destinations", true, "zeros"},
	{"Graph_create|Graph_map", "int", "indx", true, "ones"},
	{"Graph_create|Graph_map", "int", "edges", true, "zeros"},
	{"Testany|Waitany|Test.*|Wait.*|Request_get_status.*", "MPI_Request", "", true, "requests()"},
	{"Start|Startall|Cancel|Request_free", "MPI_Request", "", true, "persistent()"},
	{"Mrecv.*|Imrecv.*", "MPI_Message", "", true, "no_message()"},
	{"Op_free", "MPI_Op", "", true, "scratch()"},
	{"Lookup_name|Publish_name|Unpublish_name|.*_port|Comm_accept|Comm_connect", "char", "", true, "\"banyan\""},

	{"", "MPI_Count", "", false, "1"},
	{"", "MPI_Aint", "target_disp", false, "0"},
	{"", "MPI_Aint", "", false, "16"},
	{"", "MPI_Comm", "", false, "comm"},
	{"", "MPI_Datatype", "", false, "MPI_INT"},
	{"", "MPI_Errhandler", "", false, "MPI_ERRORS_RETURN"},
	{"", "MPI_File", "", false, "file"},
	{"", "MPI_Group", "", false, "group"},
	{"", "MPI_Info", "", false, "info"},
	{"", "MPI_Message", "", false, "MPI_MESSAGE_NO_PROC"},
	{"", "MPI_Op", "", false, "MPI_SUM"},
	{"", "MPI_Request", "", false, "MPI_REQUEST_NULL"},
	{"", "MPI_Session", "", false, "session"},
	{"", "MPI_Win", "", false, "win"},
	{"", "", "dest", false, "MPI_PROC_NULL"},
	{"", "", "source", false, "MPI_PROC_NULL"},
	{"", "", "root", false, "0"},
	{"", "", "rank", false, "0"},
	{"", "", "target_rank", false, "0"},
	{"", "", "local_leader", false, "0"},
	{"", "int", "", false, "1"},
	{"", "char", "", true, "text()"},
	{"", "int", "ranks", true, "zeros"},
	{"", "int", "ranks1", true, "zeros"},
	{"", "int", "coords", true, "zeros"},
	{"", "", "displs", true, "zeros"},
	{"", "", "sdispls", true, "zeros"},
	{"", "", "rdispls", true, "zeros"},
	{"", "MPI_Count", "", true, "wide()"},
	{"", "MPI_Aint", "", true, "wide()"},
	{"", "int", "", true, "narrow()"},
}

const nullBegin = `#define MPI_NO_DEPRECATED
#include <mpi.h>
#include <mpi-ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char memory[64][1 << 14];
static int next, first, zeros[1 << 12], ones[1 << 12], distributions[8] = {MPI_DISTRIBUTE_BLOCK}, ranges[1][3];
static char *file_name, *commands[] = {"/nowhere/banyan", NULL};
static MPI_Comm comm, cart, graph, dist;
static MPI_Datatype made, types[8];
static MPI_File file;
static MPI_Group group;
static MPI_Info info, infos[8];
static MPI_Session session;
static MPI_Win win;
static MPI_T_cvar_handle variable;
static MPI_T_pvar_handle counter;
static MPI_T_pvar_session measurements;

/* Zeros to read from, and room to write to. */
static void *scratch(void) {
	next = (next + 1) % 64;
	return memset(memory[next], 0, sizeof memory[next]);
}

static void *text(void) { return strcpy(scratch(), "text"); }

static void *narrow(void) {
	int *p = scratch();
	for (int i = 0; i < 64; i++) p[i] = 1;
	return p;
}

static void *wide(void) {
	MPI_Count *p = scratch();
	for (int i = 0; i < 64; i++) p[i] = 1;
	return p;
}

static MPI_Comm *duplicate(void) {
	MPI_Comm *c = scratch();
	MPI_Comm_dup(MPI_COMM_SELF, c);
	return c;
}

static MPI_Request *requests(void) {
	MPI_Request *r = scratch();
	for (int i = 0; i < 8; i++) MPI_Isend(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, comm, &r[i]);
	return r;
}

static MPI_Request *persistent(void) {
	MPI_Request *r = scratch();
	MPI_Send_init(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, comm, r);
	return r;
}

static MPI_Message *no_message(void) {
	MPI_Message *m = scratch();
	*m = MPI_MESSAGE_NO_PROC;
	return m;
}

/* A call that waits for ever ends by SIGALRM. */
#define TURN(n) (n >= first && (alarm(10), 1))

static void END(int n, int code) {
	int class = MPI_SUCCESS;
	MPI_Error_class(code, &class);
	printf("%d %d\n", n, class);
	fflush(stdout);
}

int main(int argc, char **argv) {
	int count, provided;
	first = atoi(argv[1]), file_name = argv[2];
	for (int i = 0; i < 1 << 12; i++) ones[i] = 1;
	for (int i = 0; i < 8; i++) types[i] = MPI_INT, infos[i] = MPI_INFO_NULL;
	MPI_Init(NULL, NULL);
	MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Comm_dup(MPI_COMM_SELF, &comm);
	MPI_Cart_create(comm, 1, ones, ones, 0, &cart);
	MPI_Graph_create(comm, 1, ones, zeros, 0, &graph);
	MPI_Dist_graph_create_adjacent(comm, 1, zeros, ones, 1, zeros, ones, MPI_INFO_NULL, 0, &dist);
	MPI_Type_contiguous(3, MPI_INT, &made);
	MPI_Type_commit(&made);
	MPI_File_open(comm, file_name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
	MPI_Comm_group(comm, &group);
	MPI_Info_create(&info);
	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
	MPI_Win_create(memory[0], 1 << 14, 1, MPI_INFO_NULL, comm, &win);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	MPI_Win_lock_all(0, win);
	MPI_T_cvar_handle_alloc(0, NULL, &variable, &count);
	MPI_T_pvar_session_create(&measurements);
	MPI_T_pvar_handle_alloc(measurements, 0, NULL, &counter, &count);
`

const nullEnd = `	_exit(0);
}
`
