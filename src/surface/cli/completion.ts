import type { Command } from './command.ts'

/** Each script passes the words of the line to `bailiwick __complete`, which knows the installed commands. */
const SCRIPTS = {
  bash: `_bailiwick() {
  local IFS=$'\\n' cur=\${COMP_WORDS[COMP_CWORD]} found
  found=$("\${COMP_WORDS[0]}" __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  case $found in
    :files) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")) ;;
    :folders) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$cur")) ;;
    *) COMPREPLY=($found) ;;
  esac
}
complete -F _bailiwick bailiwick flux-bailiwick
`,
  zsh: `#compdef bailiwick flux-bailiwick
_bailiwick() {
  local -a found
  found=("\${(@f)$("\${words[1]}" __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  case $found[1] in
    :files) _files ;;
    :folders) _files -/ ;;
    *) compadd -- $found ;;
  esac
}
if (( $+functions[compdef] )); then compdef _bailiwick bailiwick flux-bailiwick; fi
`,
  fish: `function _bailiwick
  set -l words (commandline -opc) (commandline -ct)
  set -l found ($words[1] __complete $words[2..-1] 2>/dev/null)
  switch "$found[1]"
    case :files; __fish_complete_path (commandline -ct)
    case :folders; __fish_complete_directories (commandline -ct)
    case '*'; printf '%s\\n' $found
  end
end
complete -c bailiwick -f -a '(_bailiwick)'
complete -c flux-bailiwick -f -a '(_bailiwick)'
`,
} as const

/** `bailiwick completion`: prints a script that lets a shell complete commands, options and values. */
export const completion: Command = {
  name: 'completion',
  usage: [['bash|zsh|fish', 'the shell']],
  notes: `Load it in the current shell, or in the startup file of the shell:
  bash: source <(bailiwick completion bash)
  zsh:  source <(bailiwick completion zsh)
  fish: bailiwick completion fish | source`,
  async run({ positionals: [shell] }, io) {
    io.stdout(SCRIPTS[shell as keyof typeof SCRIPTS])
    return 0
  },
}
