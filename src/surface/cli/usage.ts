/**
 * An argument or option as the usage line has it, and its help: `DIR`, `[DIR]`, `verify|show`, `[--base REF]`,
 * `--cluster NAME`, `[--repo URL[#REF]=DIR]...`, `[--strict]`, `[-o text|json]`. In brackets: may be left out; with dots:
 * may be repeated; `a|b`: one of these words. `-o` is also `--output`, `-n` is also `--namespace`.
 */
export type UsageLine = readonly [usage: string, help: string]

/** What a command takes: parser, help, docs and completion read it. */
export interface Usage {
  readonly name: string
  readonly usage: readonly UsageLine[]
  /** What the help says below them. */
  readonly notes?: string
  /** The advice where the usage line is too long; absent: that of a command of `bailiwick`. */
  readonly seeHelp?: string
}

/** The option of commands that print for people and for programs. */
export const TEXT_OR_JSON: UsageLine = ['[-o text|json]', 'text for people']

/** An argument or option of a command, read from its usage line. */
export interface Term {
  /** `--output`, `DIR`. */
  readonly name: string
  /** `-o`. */
  readonly short?: string
  readonly isOption: boolean
  readonly isRequired: boolean
  readonly isRepeated: boolean
  /** What its value is called; absent for an option without a value. */
  readonly value?: string
  /** The only values; the first is the default where it may be left out. Absent: any. */
  readonly words?: readonly string[]
}

const LONG: ReadonlyMap<string, string> = new Map([
  ['-o', '--output'],
  ['-n', '--namespace'],
])

/** What stands between the brackets that mean "may be left out". */
function inside(usage: string): string {
  return usage.startsWith('[') ? usage.slice(1, usage.lastIndexOf(']')) : usage.replace(/\.\.\.$/, '')
}

function termOf(usage: string): Term {
  const text = inside(usage)
  const isOption = text.startsWith('-')
  const [head = '', value] = isOption ? text.split(' ') : [text, text]
  const long = LONG.get(head)
  return {
    name: long ?? head,
    ...(long === undefined ? {} : { short: head }),
    ...{ isOption, isRequired: !usage.startsWith('['), isRepeated: usage.endsWith('...') },
    ...(value === undefined ? {} : { value }),
    ...(value !== undefined && /^[a-z]+(?:[|-][a-z]+)*$/.test(value) ? { words: value.split('|') } : {}),
  }
}

/** The arguments and options of a command, in the order of its help. */
export const termsOf = ({ usage }: Usage): Term[] => usage.map(([text]) => termOf(text))

/** A longer line hides what it says. */
const LONGEST = 90

/** How a command is written, on one line: with all options, or with `[OPTION]...` for those that may be left out. */
export function usageLine({ name, usage }: Usage): string {
  const all = [name, ...usage.map(([text]) => text)].join(' ')
  if (all.length <= LONGEST) return all
  const shown = usage.filter(([text]) => !text.startsWith('[-')).map(([text]) => text)
  return [name, ...shown, '[OPTION]...'].join(' ')
}

const COLUMN = 15

/** The help of a command: its line, what each argument and option means, and its notes. */
export function helpText(command: Usage): string {
  const lines = command.usage.map(([text, help]) => {
    const head = inside(text)
    return `  ${head.length < COLUMN ? head.padEnd(COLUMN) : `${head}   `}${help}`
  })
  return [usageLine(command), lines.join('\n'), command.notes ?? ''].filter(Boolean).join('\n\n')
}
