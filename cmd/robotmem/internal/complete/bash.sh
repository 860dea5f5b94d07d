# Completion of robotmem for bash. Load it in ~/.bashrc with: source <(robotmem completion bash)
_robotmem() {
    local line current="${COMP_WORDS[COMP_CWORD]}"
    [ "$current" = "=" ] && current=""
    COMPREPLY=()
    while IFS= read -r line; do
        if [ "$line" = ":files" ]; then
            compopt -o filenames 2>/dev/null
            while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current")
        else
            COMPREPLY+=("${line%%$'\t'*}")
        fi
    done < <("${COMP_WORDS[0]}" __complete bash "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _robotmem robotmem
