#!/bin/sh
# Lets the standbys of compose.yaml connect.
echo "host replication all all scram-sha-256" >>"$PGDATA/pg_hba.conf"
