import { BailiwickError } from '../errors.ts'
import type { OffboardRequest } from './request.ts'

/** How to write it in a comment. */
export const OFFBOARD_USAGE = 'offboard TENANT [--cluster C [--cluster C2]] [--continue]'
export const MOVE_USAGE = 'move TENANT --to C [--from C2] [--continue]'
export const RENAME_USAGE = 'rename TENANT --to NEW [--continue]'
export const HAND_OVER_USAGE = 'hand-over NAMESPACE --to TENANT [--continue]'

/** Names that a fleet may have: those of tenants are label values, those of clusters folders. */
const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/
/** A valid name for an account, a binding and a source: a DNS label in Kubernetes. */
const DNS_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/** What stands behind `offboard` or `move`. */
interface OffboardWords extends OffboardRequest {
  /** Of the command line. */
  readonly directory: string | undefined
  /** Go on with the next change without waiting for results. */
  readonly isContinued: boolean
}

type Takes = 'directory' | '--continue'

/** Reads what stands behind `offboard`; `takes`: what may stand there besides the tenant. Throws `offboard-input`. */
export function parseOffboard(words: readonly string[], usage: string, takes: Takes): OffboardWords {
  const { clusters, ...read } = readWords(words, usage, takes, ['--cluster'])
  return { ...read, clusters: [...new Set(clusters.get('--cluster'))].sort() }
}

/** Reads what stands behind `move`, as parseOffboard does. */
export function parseMove(
  words: readonly string[],
  usage: string,
  takes: Takes,
): OffboardWords & { readonly to: string } {
  const { clusters, ...read } = readWords(words, usage, takes, ['--from', '--to'])
  const [from = [], to = []] = ['--from', '--to'].map(option => clusters.get(option))
  if (to.length !== 1 || from.length > 1) {
    throw offboardInput(
      to.length === 0 ? '--to is missing' : 'a tenant moves from one cluster to one',
      `Write: ${usage}`,
    )
  }
  return { ...read, clusters: from, to: to[0]! }
}

/** Parses the arguments of `rename`, as parseOffboard does for `offboard`. */
export function parseRename(words: readonly string[], usage: string, takes: Takes): OffboardWords {
  const { clusters, ...read } = readWords(words, usage, takes, ['--to'])
  const name = oneName(clusters.get('--to'), usage)
  if (!DNS_LABEL.test(name)) {
    throw offboardInput(
      `${shown(name)} is not a valid name of a tenant`,
      'Use lowercase letters, digits and -, at most 63.',
    )
  }
  if (name === read.tenant) throw offboardInput(`tenant ${name} has that name already`, `Write: ${usage}`)
  return { ...read, clusters: [], name }
}

/** Parses the arguments of `hand-over`, as parseOffboard does for `offboard`. */
export function parseHandOver(words: readonly string[], usage: string, takes: Takes): OffboardWords {
  const { clusters, tenant: namespace, ...read } = readWords(words, usage, takes, ['--to'], 'namespace')
  if (!DNS_LABEL.test(namespace))
    throw offboardInput(`namespace ${shown(namespace)} is not a valid name`, `Write: ${usage}`)
  return { ...read, tenant: oneName(clusters.get('--to'), usage), clusters: [], namespace }
}

function oneName(names: readonly string[] = [], usage: string): string {
  const [name, more] = names
  if (name !== undefined && more === undefined) return name
  throw offboardInput(name === undefined ? '--to is missing' : '--to is given twice', `Write: ${usage}`)
}

function readWords(words: readonly string[], usage: string, takes: Takes, options: readonly string[], what = 'tenant') {
  const names: string[] = []
  const clusters = new Map(options.map(option => [option, [] as string[]]))
  let isContinued = false
  for (let index = 0; index < words.length; index++) {
    const word = words[index]!
    const option = options.find(one => word === one || word.startsWith(`${one}=`))
    if (word === takes) isContinued = true
    else if (option !== undefined) {
      const value = word === option ? words[++index] : word.slice(option.length + 1)
      clusters.get(option)!.push(checked(value, option, usage))
    } else if (word.startsWith('-')) throw offboardInput(`unknown option ${shown(word)}`, `Write: ${usage}`)
    else names.push(word)
  }
  const [tenant, directory, extra] = names
  if (tenant === undefined) throw offboardInput(`the name of the ${what} is missing`, `Write: ${usage}`)
  const surplus = takes === 'directory' ? extra : directory
  if (surplus !== undefined) throw offboardInput(`${shown(surplus)} is an extra argument`, `Write: ${usage}`)
  return { tenant: checked(tenant, what, usage), clusters, directory, isContinued }
}

function checked(value: string | undefined, what: string, usage: string): string {
  if (value !== undefined && NAME.test(value)) return value
  const kind = what === '--to' && !usage.includes('--to C') ? 'tenant' : what.startsWith('--') ? 'cluster' : what
  throw offboardInput(
    value === undefined ? `${what} has no value` : `${kind} ${shown(value)} is not a valid name`,
    `Write: ${usage}`,
  )
}

/** The error of every offboarding that is refused as it is asked for. */
export function offboardInput(message: string, fix: string): BailiwickError {
  return new BailiwickError('offboard-input', message, { fix })
}

const shown = (value: string) => JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value)
