#compdef robotmem
# Completion of robotmem for zsh. Write it to a file _robotmem in a folder of $fpath, or load it in ~/.zshrc after compinit
# with: source <(robotmem completion zsh)
_robotmem() {
    local line files
    local -a found
    while IFS= read -r line; do
        if [[ "$line" == ":files" ]]; then
            files=yes
        else
            # A colon divides a word from its help.
            found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
        fi
    done < <("${words[1]}" __complete zsh "${(@)words[2,CURRENT]}" 2>/dev/null)
    (( $#found )) && _describe -V robotmem found
    [[ -n "$files" ]] && _files
    return 0
}
if [ "${funcstack[1]}" = "_robotmem" ]; then
    _robotmem "$@"
else
    compdef _robotmem robotmem
fi
