# Completion of robotmem for fish. Write it to ~/.config/fish/completions/robotmem.fish, or load it with:
# robotmem completion fish | source
function __robotmem_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] __complete fish $words[2..-1] "$current" 2>/dev/null)
        if test "$line" = ":files"
            __fish_complete_path "$current"
        else
            echo -- $line
        end
    end
end
complete -c robotmem -f -a '(__robotmem_complete)'
