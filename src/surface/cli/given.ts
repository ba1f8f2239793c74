import { parseArgs } from 'node:util'
import { BailiwickError } from '../../base/errors.ts'
import { andMore, closest, probably } from '../../base/name-list.ts'
import { visible } from '../../base/visible.ts'
import { type Term, termsOf, type Usage, usageLine } from './usage.ts'

/** The arguments of one run of a command, checked against its usage. */
export interface Given {
  /** As they were written. */
  readonly args: readonly string[]
  readonly positionals: readonly string[]
  /** The value of `FLEET`, or of the option `base`; undefined if it is not given. */
  one(name: string): string | undefined
  /** Every value of a repeatable option. */
  all(name: string): readonly string[]
  /** Whether an option without a value is given. */
  has(name: string): boolean
  /** The value of `-o`, or the first format of the usage. */
  readonly format: string
  /** A `usage` error of this command. The remedy is `fix`, else the usage line. */
  wrong(message: string, fix?: string): Error
}

/**
 * Reads the arguments of a command. Throws `usage` for what its usage does not allow: an unknown option, a missing or extra
 * argument, an empty value, another word than those that are listed.
 */
export function readGiven(command: Usage, args: readonly string[]): Given {
  const wrong = (message: string, fix?: string) => usageError(command, message, fix)
  const terms = termsOf(command)
  const values = new Map<string, string[]>()
  const positionals: string[] = []
  for (const token of tokensOf(args, terms)) {
    if (token.kind === 'positional') positionals.push(token.value)
    if (token.kind !== 'option') continue
    const { rawName, value, inlineValue } = token
    const term = terms.find(one => one.name === `--${token.name}`)
    if (!term) throw unknownOption(rawName, terms, command)
    if (term.value === undefined && value !== undefined) throw wrong(`${rawName} takes no value`)
    const one = term.value === undefined ? '' : givenValue(rawName, value, inlineValue === true, wrong)
    values.set(term.name, [...(values.get(term.name) ?? []), one])
  }
  const places = terms.filter(({ isOption }) => !isOption)
  for (const [index, { name }] of places.entries()) if (positionals[index]) values.set(name, [positionals[index]])
  const [extra] = positionals.slice(places.length)
  if (extra !== undefined) throw wrong(`${JSON.stringify(visible(extra, 100))} is an extra argument`)
  for (const term of terms) checkTerm(term, values.get(term.name) ?? [], wrong)
  const all = (name: string) => values.get(name) ?? values.get(`--${name}`) ?? []
  const one = (name: string): string | undefined => all(name)[0]
  const format = one('output') ?? terms.find(({ name }) => name === '--output')?.words?.[0] ?? ''
  return { args, positionals, one, all, has: name => values.has(`--${name}`), format, wrong }
}

function checkTerm(
  { name, short, words, isRequired, isRepeated }: Term,
  given: readonly string[],
  wrong: Given['wrong'],
): void {
  if (isRequired && given.length === 0)
    throw wrong(`${name} is missing${words ? `. Allowed: ${words.join(', ')}` : ''}`)
  if (given.length > 1 && !isRepeated) throw wrong(`${name} is given ${given.length} times. Allowed: once`)
  const other = words && given.find(one => !words.includes(one))
  if (words === undefined || other === undefined) return
  const what = name.startsWith('--') ? `${short ?? name} ${quoted(other)}` : quoted(other)
  throw wrong(`${what} is not known. Allowed: ${words.join(', ')}`, didYouMean(other, words))
}

function tokensOf(args: readonly string[], terms: readonly Term[]) {
  const options = terms.flatMap(({ name, short, isOption, value }) => {
    const type = value === undefined ? ('boolean' as const) : ('string' as const)
    return isOption ? [[name.slice(2), { type, multiple: true, ...(short ? { short: short.slice(1) } : {}) }]] : []
  })
  // not strict: its messages name neither the allowed options nor the intended one
  const how = { allowPositionals: true, strict: false, tokens: true } as const
  return parseArgs({ args: [...args], ...how, options: Object.fromEntries(options) }).tokens
}

function givenValue(rawName: string, value: string | undefined, isInline: boolean, wrong: Given['wrong']): string {
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

function unknownOption(rawName: string, terms: readonly Term[], command: Usage) {
  const known = terms.filter(({ isOption }) => isOption).map(({ name }) => name)
  const fix = INSTEAD[`${command.name} ${rawName}`] ?? didYouMean(rawName, [...known, '--help', '--quiet', '--color'])
  return usageError(
    command,
    `${visible(rawName, 100)} is not an option of ${command.name}. Allowed: ${known.join(', ') || 'none'}`,
    fix ?? seeHelpOf(command),
  )
}

/** `Did you mean X?`; undefined where nothing known is like it. */
export function didYouMean(text: string, known: readonly string[]): string | undefined {
  const meant = probably(text, known)
  return meant === undefined ? undefined : `Did you mean ${meant}?`
}

const quoted = (text: string) => JSON.stringify(visible(text, 100))

const seeHelpOf = ({ name, seeHelp = `Run bailiwick help ${name}.` }: Usage) => seeHelp

function usageError(command: Usage, message: string, fix?: string): BailiwickError {
  const line = usageLine(command)
  const help = line.endsWith('[OPTION]...') ? seeHelpOf(command) : `usage: bailiwick ${line}`
  return new BailiwickError('usage', message, { fix: fix ?? help })
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
    const fix =
      didYouMean(name, [...known]) ?? `Name one of them${what === 'namespace' ? '' : `, or leave out --${what}`}.`
    throw new BailiwickError('usage', `no ${what} ${JSON.stringify(visible(name, 100))}${list}`, { fix })
  }
}
