package main

import "strings"

// exampleLines are the examples in the help of each command, by its path.
var exampleLines = map[string][]string{
	"learn": {
		`robotmem learn "grip_force=12.5 N holds wet glass" --context '{"params":{"grip_force":12.5},"task":{"success":true}}'`,
		`echo "the gripper slips below 8 N" | robotmem learn -`,
	},
	"recall": {
		`robotmem recall "hold a wet glass"`,
		`robotmem recall "grip force" --context-filter '{"task.success":false}' --n 10 --json`,
		`robotmem recall --spatial-sort '{"field":"spatial.position","target":[1.2,0.4,0],"max_distance":2}'`,
	},
	"advise": {
		`robotmem advise "pick wet glass"`,
		`robotmem advise --context-filter '{"object":"glass","wet":true}' --explore --json`,
		`robotmem advise --task dock --goal=-task.duration_s --parameters params.speed`,
	},
	"aggregate":       {`robotmem aggregate --group-by corridor,outcome --after 2026-01-01T00:00:00Z`, `robotmem aggregate --context-filter '{"corridor":"B"}'`},
	"search":          {`robotmem search "wet glass" --top-k 20`},
	"save-perception": {`robotmem save-perception "the cup before the grasp" --file cup.png --perception-type visual`, `robotmem save-perception "wrist force while inserting" --file force.csv --perception-type tactile --metadata '{"rate_hz":1000}'`},
	"forget":          {`robotmem forget 12 --reason "the sensor was not calibrated"`, `robotmem forget 12 --purge --reason "a person asked for it"`},
	"audit":           {`robotmem audit`, `robotmem audit --memory-id 12`, `robotmem audit --action purged --after 2026-01-01T00:00:00Z --json`},
	"restore":         {`robotmem restore 12`},
	"update":          {`robotmem update 12 "grip_force=13 N holds wet glass"`},
	"session start":   {`robotmem session start --collection kitchen --context '{"task":{"name":"set the table"}}'`},
	"session end":     {`robotmem session end 01980c2e-0000-7000-8000-000000000000 --outcome-score 0.9 --used-memory-ids 12,15`},
	"session list":    {`robotmem session list --status active`},
	"session get":     {`robotmem session get 01980c2e-0000-7000-8000-000000000000`},
	"pin":             {`robotmem pin 12`, `robotmem pin 12 --no-pinned`},
	"session show":    {`robotmem session show 01980c2e-0000-7000-8000-000000000000`},
	"get":             {`robotmem get 12`},
	"timeline":        {`robotmem timeline 12`, `robotmem timeline 12 --before 10 --after 0`},
	"data":            {`robotmem data 12 --output cup.png`, `robotmem data 12 | file -`},
	"preview":         {`robotmem preview 12 --output cup.jpg`, `robotmem preview 12 --width 1280 --height 720 > plot.svg`},
	"samples":         {`robotmem samples 12`, `robotmem samples 12 --from 0.08 --to 0.1 --points 200`},
	"history":         {`robotmem history 12`},
	"list":            {`robotmem list --category constraint --limit 50`, `robotmem list --status all --days 7 --json`},
	"collections":     {`robotmem collections`},
	"categories":      {`robotmem categories --collection kitchen`},
	"paths":           {`robotmem paths --prefix params.`, `robotmem paths --path task.name`},
	"places":          {`robotmem places`, `robotmem places --field spatial.position --grid 32 --context-filter '{"task.success":false}'`},
	"recent-failures": {`robotmem recent-failures --days 7`},
	"stats":           {`robotmem stats --json`},
	"activity":        {`robotmem activity --days 7`, `robotmem activity --days 365 --collection kitchen --json`},
	"import":          {`robotmem import facts.jsonl`, `zcat facts.jsonl.gz | robotmem import -`, `robotmem import run_0.mcap --exclude /rosout --rate "/camera/*=2"`, `robotmem import rosbag2_folder --map-id hall`, `robotmem import lerobot_dataset --episodes 0-9`, `robotmem import arm7.tar --dry-run`, `ssh arm7 robotmem export --archive - | robotmem import -`, `robotmem import ~/.robotmem/old/memory.db --time-zone Europe/Berlin`, `robotmem import notes`},
	"export":          {`robotmem export --collection kitchen > kitchen.jsonl`, `robotmem export --mcap run.mcap --session 01a1feaa-a80c-7a1b-9c31-251ec8f2a842`, `robotmem export --archive arm7.tar.zst`, `robotmem export --hashes | diff - other-node.hashes`, `robotmem export --markdown notes`},
	"backup make":     {`robotmem backup`, `robotmem backup /mnt/usb/arm-7 --keep 14`},
	"backup list":     {`robotmem backup list`, `robotmem backup list /mnt/usb/arm-7 --json`},
	"backup verify":   {`robotmem backup verify`, `robotmem backup verify /mnt/usb/arm-7/memory-20261121T204100.000Z`},
	"backup restore":  {`robotmem backup restore memory-20261121T204100.000Z`, `robotmem backup restore /mnt/usb/arm-7/memory-20261121T204100.000Z --to drill.db`},
	"retain":          {`robotmem retain --keep "visual 10GB 30d" --keep "* 20GB"`, `robotmem retain --min-free 2GB --apply`},
	"mcp":             {`robotmem mcp`, `robotmem mcp --db /data/arm.db --collection arm`},
	"web":             {`robotmem web`, `robotmem web --addr 127.0.0.1:0`, `robotmem web --memory 64MiB`, `robotmem web --addr 0.0.0.0:7878 --tls-cert node.crt --tls-key node.key --allow-host arm-7.local`},
	"token create":    {`robotmem token create arm-7`, `robotmem token create dashboard --read-only`},
	"token list":      {`robotmem token list`},
	"token revoke":    {`robotmem token revoke dashboard`},
	"setup":           {`robotmem setup`, `robotmem setup claude-code --dry-run`, `robotmem setup vscode --scope project --db robot.db`, `robotmem setup cursor --url http://robot.local:7878`, `robotmem setup codex --undo`},
	"model list":      {`robotmem model list`},
	"model pull":      {`robotmem model pull minishlab/potion-multilingual-128M`, `HF_ENDPOINT=https://hub.example robotmem model pull minishlab/potion-base-8M@main`},
	"model remove":    {`robotmem model remove minishlab/potion-base-8M`},
	"model test":      {`robotmem model test`, `robotmem model test minishlab/potion-multilingual-128M`, `robotmem model test --embedder ollama:nomic-embed-text --json`},
	"doctor":          {`robotmem doctor`, `robotmem doctor --repair`},
	"demo":            {`robotmem demo`, `robotmem demo --web`},
	"bench":           {`robotmem bench --n 100000`},
	"eval set":        {`robotmem eval set beir/xquad-en`, `robotmem eval beir/locomo-dev --where category=1,2,3,4`},
	"eval answers":    {`robotmem eval answers`, `robotmem eval answers --embedder none --json`},
	"openapi":         {`robotmem openapi | npx openapi-typescript --default-non-nullable=false > robotmem.ts`},
	"version":         {`robotmem version --json`},
}

func examples(path string) string {
	lines := exampleLines[path]
	if len(lines) == 0 {
		return ""
	}
	return "Examples:\n\n  " + strings.Join(lines, "\n  ")
}
