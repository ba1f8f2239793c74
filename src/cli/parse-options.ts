import { parseArgs } from 'node:util'
import { BailiwickError } from '../errors.ts'
import { probably } from '../message/closest.ts'

export interface ParsedOptions {
  readonly positionals: readonly string[]
  /** The value of an option that may be given once. Throws `usage` where it is given more often. */
  readonly one: (name: string) => string | undefined
  /** Every value of one that may be given again and again. */
  readonly all: (name: string) => readonly string[]
}

const SHORT = new Map([
  ['output', 'o'],
  ['namespace', 'n'],
])

/**
 * Reads `--name VALUE` for these names; none may be empty, and how often one may be given is up to who reads it. `output` is
 * also `-o`, `namespace` is `-n`. Throws `usage`, which shows how the command is called.
 */
export function parseOptions(args: readonly string[], names: readonly string[], usage: string): ParsedOptions {
  const fix = `usage: bailiwick ${usage}`
  const { values, positionals } = parse(args, names, fix)
  for (const [name, list = []] of Object.entries(values)) {
    if (list.includes('')) throw new BailiwickError('usage', `--${name} is empty`, { fix })
  }
  const one = (name: string): string | undefined => {
    const [first, ...more] = values[name] ?? []
    if (more.length === 0) return first
    throw new BailiwickError('usage', `--${name} is given ${more.length + 1} times`, { fix })
  }
  return { positionals, one, all: name => values[name] ?? [] }
}

function parse(args: readonly string[], names: readonly string[], fix: string) {
  const option = { type: 'string', multiple: true } as const
  const options = names.map(name => {
    const short = SHORT.get(name)
    return [name, short === undefined ? option : { ...option, short }] as const
  })
  try {
    return parseArgs({ args: [...args], allowPositionals: true, strict: true, options: Object.fromEntries(options) })
  } catch (cause) {
    const message = cause instanceof Error ? (cause.message.split(/[.\n]/, 1)[0] ?? '') : String(cause)
    const typed = /^Unknown option '-*([^']+)'/.exec(message)?.[1]
    const meant = typed && probably(typed, [...names, 'help'])
    throw new BailiwickError('usage', meant ? `${message}; did you mean --${meant}?` : message, { fix, cause })
  }
}
