#!/bin/sh
# A site on this machine, without containers: three PostgreSQL servers of which a commit waits for
# two, two robotmem nodes, and two robots. Everything is in a temporary folder and ends with the
# script. Needs PostgreSQL 15 or later (Debian: apt-get install postgresql), Go, Python and
# curl.
set -eu
cd "$(dirname "$0")/../.."
dir=$(mktemp -d)
chmod 755 "$dir"
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
[ -n "$bin" ] || bin=$(dirname "$(command -v initdb)") || { echo "no PostgreSQL; on Debian: apt-get install postgresql" >&2; exit 1; }
# PostgreSQL refuses root.
as() { if [ "$(id -u)" = 0 ]; then su nobody -s /bin/sh -c "$*"; else sh -c "$*"; fi; }
servers=''
nodes=''
end() {
	for pid in $nodes; do kill "$pid" 2>/dev/null || true; done
	for d in $servers; do as "'$bin/pg_ctl' -D '$d' -m immediate stop" >/dev/null 2>&1 || true; done
	rm -rf "$dir"
}
trap end EXIT
trap 'exit 1' INT TERM

port=${PORT:-55430}
mkdir "$dir/pg" && if [ "$(id -u)" = 0 ]; then chown nobody "$dir/pg"; fi
start() { # NAME PORT
	servers="$servers $dir/pg/$1"
	as "'$bin/pg_ctl' -D '$dir/pg/$1' -w -l '$dir/pg/$1.log' -o '-p $2 -k $dir/pg -c listen_addresses=127.0.0.1 -c cluster_name=$1' start" >/dev/null
}
as "'$bin/initdb' -D '$dir/pg/a' -U postgres -A trust -E UTF8 --locale=C" >/dev/null
as "echo \"synchronous_standby_names = 'ANY 1 (b, c)'\" >> '$dir/pg/a/postgresql.conf'; echo 'synchronous_commit = local' >> '$dir/pg/a/postgresql.conf'"
start a "$port"
for standby in b c; do
	as "'$bin/pg_basebackup' -h 127.0.0.1 -p $port -U postgres -D '$dir/pg/$standby' -R -C -S $standby -X stream"
	as "sed -i \"s/user=postgres/application_name=$standby user=postgres/\" '$dir/pg/$standby/postgresql.auto.conf'"
done
start b $((port + 1))
start c $((port + 2))
as "sed -i 's/^synchronous_commit = local/synchronous_commit = on/' '$dir/pg/a/postgresql.conf'; '$bin/pg_ctl' -D '$dir/pg/a' reload" >/dev/null

go build -o "$dir/robotmem" ./cmd/robotmem
db="postgres://postgres@127.0.0.1:$port,127.0.0.1:$((port + 1)),127.0.0.1:$((port + 2))/postgres"
export ROBOTMEM_HOME="$dir/home"
serve() { # PORT
	"$dir/robotmem" web --db "$db" --payloads "$dir/payloads" --embedder none --addr "127.0.0.1:$1" >"$dir/node-$1.log" 2>&1 &
	nodes="$nodes $!"
	i=0
	until curl -fsS "http://127.0.0.1:$1/readyz" >/dev/null 2>&1; do
		i=$((i + 1))
		[ $i -lt 300 ] || { cat "$dir/node-$1.log" >&2; exit 1; }
		sleep 0.1
	done
}
# Every request to a site needs a token; these are of the two robots.
token() { "$dir/robotmem" fleet token create "$1" --collections navigation --db "$db" 2>/dev/null; }
lift=$(token lift)
cart=$(token cart)
serve $((port + 10))
serve $((port + 11))
export PYTHONPATH=robotmem/client/python/src ROBOTMEM_BINARY="$dir/robotmem" ROBOTMEM_EMBEDDER=none
mkdir "$dir/robots"
"$dir/robotmem" fleet join "http://127.0.0.1:$((port + 10))" --token "$lift" --db "$dir/robots/lift.db" --robot lift 2>/dev/null
"$dir/robotmem" fleet join "http://127.0.0.1:$((port + 11))" --token "$cart" --db "$dir/robots/cart.db" --robot cart \
	--subscribe navigation --where '{"map": "hall-2"}' --trust other=0.9 2>/dev/null
python3 -B examples/fleet/robots.py lab "$dir/robots"
# A robot that runs on sends by itself; these end at once.
"$dir/robotmem" fleet sync --db "$dir/robots/lift.db" >/dev/null
"$dir/robotmem" fleet sync --db "$dir/robots/cart.db" >/dev/null
python3 -B examples/fleet/robots.py dock "$dir/robots"
echo "the site is switched off"
for pid in $nodes; do kill "$pid"; wait "$pid" || true; done
nodes=''
python3 -B examples/fleet/robots.py dock "$dir/robots"
