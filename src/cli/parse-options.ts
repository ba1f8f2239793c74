import { parseArgs } from 'node:util'
import { BailiwickError } from '../errors.ts'

export interface ParsedOptions {
  readonly positionals: readonly string[]
  /** The value of an option that may be given once. */
  readonly one: (name: string) => string | undefined
  /** Every value of one that may be given again and again. */
  readonly all: (name: string) => readonly string[]
}

const OFTEN = new Set(['repo', 'as-group'])
const SHORT = new Map([
  ['output', 'o'],
  ['namespace', 'n'],
])

/**
 * Reads `--name VALUE` for these names; `repo` and `as-group` may be given often, the others once, and none may be empty.
 * `output` is also `-o`, `namespace` is `-n`. Throws `usage`, which shows how the command is called.
 */
export function parseOptions(args: readonly string[], names: readonly string[], usage: string): ParsedOptions {
  const fix = `usage: bailiwick ${usage}`
  const { values, positionals } = parse(args, names, fix)
  for (const [name, list = []] of Object.entries(values)) {
    if (list.includes('')) throw new BailiwickError('usage', `--${name} is empty`, { fix })
    if (list.length > 1 && !OFTEN.has(name)) {
      throw new BailiwickError('usage', `--${name} is given ${list.length} times`, { fix })
    }
  }
  return { positionals, one: name => values[name]?.[0], all: name => values[name] ?? [] }
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
    throw new BailiwickError('usage', message, { fix, cause })
  }
}
