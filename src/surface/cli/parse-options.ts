import { parseArgs } from 'node:util'
import { BailiwickError } from '../../base/errors.ts'
import { andMore, closest, probably } from '../../base/name-list.ts'
import { visible } from '../../base/visible.ts'

export interface ParsedOptions {
  readonly positionals: readonly string[]
  /** The value of an option that may be given once. Throws `usage` if it is given more often. */
  readonly one: (name: string) => string | undefined
  /** Every value of a repeatable option. */
  readonly all: (name: string) => readonly string[]
  /** Whether an option without a value is given. */
  readonly has: (flag: string) => boolean
  /** The value of `-o`, or the first of these formats. Throws `usage` for another. */
  readonly format: <F extends string>(formats: readonly F[]) => F
}

const SHORT = new Map([
  ['output', 'o'],
  ['namespace', 'n'],
])

/**
 * Reads `--name VALUE` for these names and `--flag` for these flags. A value must not be empty; the reader decides how
 * often an option may be given. `output` is also `-o`, `namespace` is `-n`. Throws `usage`, with the usage line.
 */
export function parseOptions(
  args: readonly string[],
  names: readonly string[],
  usage: string,
  flags: readonly string[] = [],
): ParsedOptions {
  const wrong = (message: string, fix?: string) => usageError(usage, message, fix)
  const values = new Map<string, string[]>()
  const positionals: string[] = []
  for (const token of tokensOf(args, names, flags)) {
    if (token.kind === 'positional') positionals.push(token.value)
    if (token.kind !== 'option') continue
    const { name, rawName, value, inlineValue } = token
    if (flags.includes(name)) {
      if (value !== undefined) throw wrong(`${rawName} takes no value`)
      values.set(name, [])
    } else if (names.includes(name)) {
      values.set(name, [...(values.get(name) ?? []), givenValue(rawName, value, inlineValue === true, wrong)])
    } else throw unknownOption(rawName, [...names, ...flags], usage)
  }
  const one = (name: string): string | undefined => {
    const [first, ...more] = values.get(name) ?? []
    if (more.length === 0) return first
    throw wrong(`--${name} is given ${more.length + 1} times. Allowed: once`)
  }
  const format = <F extends string>(formats: readonly F[]): F => {
    const asked = one('output') ?? formats[0]
    const found = formats.find(known => known === asked)
    if (found !== undefined) return found
    throw wrong(
      `-o ${quoted(asked ?? '')} is not a format. Allowed: ${formats.join(', ')}`,
      didYouMean(asked ?? '', formats),
    )
  }
  return { positionals, one, all: name => values.get(name) ?? [], has: flag => values.has(flag), format }
}

function tokensOf(args: readonly string[], names: readonly string[], flags: readonly string[]) {
  const option = { type: 'string', multiple: true } as const
  const valued = names.map(name => {
    const short = SHORT.get(name)
    return [name, short === undefined ? option : { ...option, short }] as const
  })
  const bare = flags.map(name => [name, { type: 'boolean', multiple: true } as const] as const)
  const options = Object.fromEntries([...valued, ...bare])
  // not strict: its messages name neither the allowed options nor the intended one
  return parseArgs({ args: [...args], allowPositionals: true, strict: false, tokens: true, options }).tokens
}

function givenValue(
  rawName: string,
  value: string | undefined,
  isInline: boolean,
  wrong: (message: string, fix?: string) => Error,
): string {
  if (value === undefined) throw wrong(`${rawName} needs a value`)
  if (value === '') throw wrong(`${rawName} is empty`)
  // `--cluster --strict`: the name was probably forgotten, and does not begin with a dash
  if (!isInline && /^-./.test(value)) {
    throw wrong(
      `${rawName} needs a value, but ${quoted(value)} follows`,
      `A value that begins with "-" is written ${rawName}=VALUE.`,
    )
  }
  return value
}

/** Advice on options that a command does not have because it reads no fleet, or only one cluster. */
const INSTEAD: Readonly<Record<string, string>> = {
  'render --cluster': 'bailiwick build --cluster NAME renders what a cluster gets.',
  'render --tenant': 'bailiwick build --cluster NAME --tenant NAME renders what a tenant gets.',
  'explain --cluster': 'bailiwick check --cluster NAME lists the findings of a cluster.',
  'explain --tenant': 'bailiwick check --tenant NAME lists the findings of a tenant.',
}

function unknownOption(rawName: string, known: readonly string[], usage: string) {
  const [command = ''] = usage.split(' ', 1)
  const names = [...known, 'help', 'quiet', 'color'].map(name => `--${name}`)
  const list = known.map(name => `--${name}`).join(', ')
  const fix = INSTEAD[`${command} ${rawName}`] ?? didYouMean(rawName, names)
  return usageError(
    usage,
    `${visible(rawName, 100)} is not an option of ${command}. Allowed: ${list || 'none'}`,
    fix ?? `Run bailiwick help ${command}.`,
  )
}

function didYouMean(text: string, known: readonly string[]): string | undefined {
  const meant = probably(text, known)
  return meant === undefined ? undefined : `Did you mean ${meant}?`
}

const quoted = (text: string) => JSON.stringify(visible(text, 100))

/** A longer usage line hides what is wrong. */
const LONGEST = 90

/** A `usage` error. The remedy is `fix`, else the usage line, or where to read it if it is long. */
export function usageError(usage: string, message: string, fix?: string): BailiwickError {
  const [name = ''] = usage.split(' ', 1)
  const help = usage.length > LONGEST ? `Run bailiwick help ${name}.` : `usage: bailiwick ${usage}`
  return new BailiwickError('usage', message, { fix: fix ?? help })
}

/** Returns the one of these words that an argument is. Throws `usage` with the allowed words and a suggestion. */
export function allowedWord<W extends string>(
  usage: string,
  what: string,
  given: string | undefined,
  words: readonly W[],
): W {
  const list = words.join(', ')
  if (given === undefined || given === '') throw usageError(usage, `${what} is missing. Allowed: ${list}`)
  const found = words.find(word => word === given)
  if (found !== undefined) return found
  const meant = probably(given, words)
  const message = `${what} ${JSON.stringify(visible(given, 100))} is not known. Allowed: ${list}`
  throw usageError(usage, message, meant === undefined ? undefined : `Did you mean ${meant}?`)
}

/** Throws `usage` for a name that is not in `known`, and lists those. */
export function assertKnown(
  what: 'cluster' | 'tenant' | 'namespace',
  names: readonly string[],
  known: ReadonlySet<string>,
): void {
  for (const name of names) {
    if (known.has(name)) continue
    const there = closest(name, known).sort()
    const more = andMore(known.size - there.length)
    const list = there.length > 0 ? `; there are: ${there.join(', ')}${more}` : `; there is no ${what} in this fleet`
    const meant = probably(name, known)
    const fix =
      meant === undefined
        ? `Name one of them${what === 'namespace' ? '' : `, or leave out --${what}`}.`
        : `Did you mean ${meant}?`
    throw new BailiwickError('usage', `no ${what} ${JSON.stringify(visible(name, 100))}${list}`, { fix })
  }
}
