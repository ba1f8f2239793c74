import type { CommandWords } from './completion-words.ts'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof SHELLS)[number]

/** The names under which the program is installed. */
const PROGRAMS = ['bailiwick', 'flux-bailiwick']

/** A completion script for a shell to source. */
export function completionScript(shell: Shell, commands: readonly CommandWords[]): string {
  const lines = { bash, zsh, fish }[shell](commands)
  return `${lines.join('\n')}\n`
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
const optionsOf = ({ options }: CommandWords) => [...options.keys()].join(' ')

/** Shell `case` branches for `command:option` with its value words or value kind. Bash and zsh share them. */
function valueCases(commands: readonly CommandWords[]): string[] {
  return commands.flatMap(({ name, options }) =>
    [...options].flatMap(([option, value]) => {
      if (value === 'none') return []
      const kind = typeof value === 'string' ? value : 'words'
      const words = typeof value === 'string' ? '' : value.words.join(' ')
      return [`    ${name}:${option}) known_kind=${kind}; known_words=${quoted(words)} ;;`]
    }),
  )
}

const commandCases = (commands: readonly CommandWords[]) =>
  commands.map(
    one => `    ${one.name}) known_options=${quoted(optionsOf(one))}; known_words=${quoted(one.words.join(' '))} ;;`,
  )

/**
 * A shell function that sets three variables for the command and the previous word; `known_kind` is empty when no option expects a
 * value. zsh has variables of its own that are called `options` and `words`.
 */
function lookup(commands: readonly CommandWords[]): string[] {
  return [
    '_bailiwick_lookup() {',
    '  known_kind= known_options= known_words=',
    '  case "$1" in',
    ...commandCases(commands),
    '  esac',
    '  case "$1:$2" in',
    ...valueCases(commands),
    '  esac',
    '}',
  ]
}

const names = (commands: readonly CommandWords[]) => commands.map(({ name }) => name).join(' ')

function bash(commands: readonly CommandWords[]): string[] {
  return [
    ...lookup(commands),
    '_bailiwick() {',
    `  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} known_kind known_options known_words`,
    '  COMPREPLY=()',
    '  if [ "$COMP_CWORD" -eq 1 ]; then',
    `    COMPREPLY=($(compgen -W ${quoted(names(commands))} -- "$cur"))`,
    '    return',
    '  fi',
    `  _bailiwick_lookup "\${COMP_WORDS[1]}" "$prev"`,
    '  case "$known_kind" in',
    '    any) return ;;',
    '    path) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")); return ;;',
    '    words) COMPREPLY=($(compgen -W "$known_words" -- "$cur")); return ;;',
    '  esac',
    '  case "$cur" in',
    '    -*) COMPREPLY=($(compgen -W "$known_options" -- "$cur")) ;;',
    '    *)',
    '      if [ -n "$known_words" ]; then COMPREPLY=($(compgen -W "$known_words" -- "$cur"))',
    '      else compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$cur")); fi ;;',
    '  esac',
    '}',
    `complete -F _bailiwick ${PROGRAMS.join(' ')}`,
  ]
}

function zsh(commands: readonly CommandWords[]): string[] {
  return [
    `#compdef ${PROGRAMS.join(' ')}`,
    ...lookup(commands),
    '_bailiwick() {',
    `  local known_kind known_options known_words command=\${words[2]} prev=\${words[CURRENT-1]}`,
    '  if (( CURRENT == 2 )); then',
    `    compadd -- ${names(commands)}`,
    '    return',
    '  fi',
    '  _bailiwick_lookup "$command" "$prev"',
    '  case "$known_kind" in',
    '    any) return ;;',
    '    path) _files; return ;;',
    `    words) compadd -- \${=known_words}; return ;;`,
    '  esac',
    `  if [[ \${words[CURRENT]} == -* ]]; then compadd -- \${=known_options}`,
    `  elif [[ -n $known_words ]]; then compadd -- \${=known_words}`,
    '  else _files -/; fi',
    '}',
    'if (( $+functions[compdef] )); then',
    `  compdef _bailiwick ${PROGRAMS.join(' ')}`,
    'fi',
  ]
}

function fish(commands: readonly CommandWords[]): string[] {
  return PROGRAMS.flatMap(program => [
    ...commands.map(
      ({ name, summary }) => `complete -c ${program} -n __fish_use_subcommand -f -a ${name} -d ${fishQuoted(summary)}`,
    ),
    ...commands.flatMap(({ name, options, words }) => [
      ...(words.length > 0
        ? [`complete -c ${program} -n '__fish_seen_subcommand_from ${name}' -f -a ${fishQuoted(words.join(' '))}`]
        : []),
      ...[...options].map(([option, value]) => {
        const flag = option.startsWith('--') ? `-l ${option.slice(2)}` : `-s ${option.slice(1)}`
        const what =
          value === 'none'
            ? ''
            : value === 'path'
              ? ' -r -F'
              : value === 'any'
                ? ' -x'
                : ` -x -a ${fishQuoted(value.words.join(' '))}`
        return `complete -c ${program} -n '__fish_seen_subcommand_from ${name}' ${flag}${what}`
      }),
    ]),
  ])
}

const fishQuoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
