#!/usr/bin/env bash
# Writes the files of a cluster: files.sh PROJECT DIR N SLURM. scripts/cluster.sh calls it.
#
#   DIR/hosts/hK      of host K (c: the console): pid, boot_id, ready
#   DIR/etc/hosts     names and addresses of all
#   DIR/ssh           a key pair, a host key for all hosts, configurations of ssh and sshd
#   DIR/bin/ssh       ssh with that configuration
#   DIR/munge, slurm  munge's key, Slurm's configuration and state
#   DIR/local         each host mounts a file system of its own there
#   DIR/log           what daemons say
#   DIR/shared        for what jobs and tests want to share; so is PROJECT
set -euo pipefail
root=$1 dir=$2 n=$3 slurm=$4

mkdir -p "$dir"/{hosts/c,etc,ssh,bin,local,log,shared}
hosts=()
for ((k = 0; k < n; k++)); do
	hosts+=("h$k")
	mkdir "$dir/hosts/h$k"
done

{
	echo "127.0.0.1 localhost"
	for ((k = 0; k < n; k++)); do
		echo "10.78.0.$((k + 1)) h$k"
	done
	echo "10.78.0.254 console"
} >"$dir/etc/hosts"

path=$dir/bin:$root/bin:$PATH:/usr/sbin:/sbin
ssh-keygen -q -t ed25519 -N '' -C "Banyan's cluster" -f "$dir/ssh/key"
ssh-keygen -q -t ed25519 -N '' -C "hosts of Banyan's cluster" -f "$dir/ssh/host"
cp "$dir/ssh/key.pub" "$dir/ssh/authorized_keys"
names=${hosts[*]}
echo "console,${names// /,},10.78.0.* $(cut -d ' ' -f 1,2 "$dir/ssh/host.pub")" >"$dir/ssh/known_hosts"
cat >"$dir/ssh/config" <<END
Host *
	User root
	IdentityFile $dir/ssh/key
	IdentitiesOnly yes
	IdentityAgent none
	UserKnownHostsFile $dir/ssh/known_hosts
	GlobalKnownHostsFile none
	StrictHostKeyChecking yes
	UpdateHostKeys no
	BatchMode yes
	ConnectTimeout 10
	LogLevel ERROR
END
variables=(PATH="$path" XDG_RUNTIME_DIR="$dir/local/run")
[ -z "$slurm" ] || variables+=(SLURM_CONF="$dir/slurm/slurm.conf")
cat >"$dir/ssh/sshd_config" <<END
HostKey $dir/ssh/host
AuthorizedKeysFile $dir/ssh/authorized_keys
PermitRootLogin yes
PasswordAuthentication no
KbdInteractiveAuthentication no
StrictModes no
UsePAM no
UseDNS no
PrintMotd no
PrintLastLog no
PidFile none
MaxStartups 300
SetEnv ${variables[*]}
END
cat >"$dir/bin/ssh" <<END
#!/bin/sh
exec $(PATH=${PATH//$dir\/bin:/} command -v ssh) -F $dir/ssh/config "\$@"
END
chmod 755 "$dir/bin/ssh"

[ -n "$slurm" ] || exit 0
mkdir -p "$dir"/slurm/state "$dir/munge"
(umask 077 && head -c 128 /dev/urandom >"$dir/munge/key")
# Each node has 8 cores, whatever this machine has. Daemons hold no state outside DIR. Processes of a
# step are found by their parents: control groups of hosts on one machine would be in each other's way.
cat >"$dir/slurm/slurm.conf" <<END
ClusterName=banyan
SlurmctldHost=console
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/local/munge.socket
CredType=cred/munge
StateSaveLocation=$dir/slurm/state
SlurmdSpoolDir=$dir/local/slurmd
SlurmctldPidFile=$dir/local/slurmctld.pid
SlurmdPidFile=$dir/local/slurmd.pid
SlurmctldLogFile=$dir/log/slurmctld
SlurmdLogFile=$dir/log/slurmd-%n
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_min_interval=100000
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
SlurmdTimeout=10
KillWait=2
MessageTimeout=5
TCPTimeout=2
InactiveLimit=0
MailProg=/bin/true
NodeName=h[0-$((n - 1))] CPUs=8 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES:4
END
echo "CgroupPlugin=cgroup/v1" >"$dir/slurm/cgroup.conf"
