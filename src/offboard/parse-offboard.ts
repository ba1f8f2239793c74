import { BailiwickError } from '../errors.ts'
import type { OffboardRequest } from './request.ts'

/** How to write it in a comment. */
export const OFFBOARD_USAGE = 'offboard TENANT [--cluster C [--cluster C2]] [--continue]'

/** Names that a fleet may have: those of tenants are label values, those of clusters folders. */
const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/

/** What stands behind `offboard`. */
interface OffboardWords extends OffboardRequest {
  /** Of the command line. */
  readonly directory: string | undefined
  /** Go on with the next change without waiting for results. */
  readonly isContinued: boolean
}

/** Reads what stands behind `offboard`; `takes`: what may stand there besides the tenant. Throws `offboard-input`. */
export function parseOffboard(
  words: readonly string[],
  usage: string,
  takes: 'directory' | '--continue',
): OffboardWords {
  const names: string[] = []
  const clusters = new Set<string>()
  let isContinued = false
  for (let index = 0; index < words.length; index++) {
    const word = words[index]!
    if (word === takes) isContinued = true
    else if (word === '--cluster') clusters.add(checked(words[++index], word, usage))
    else if (word.startsWith('--cluster=')) clusters.add(checked(word.slice('--cluster='.length), '--cluster', usage))
    else if (word.startsWith('-')) throw offboardInput(`unknown option ${shown(word)}`, `Write: ${usage}`)
    else names.push(word)
  }
  const [tenant, directory, extra] = names
  if (tenant === undefined) throw offboardInput('the name of the tenant is missing', `Write: ${usage}`)
  const surplus = takes === 'directory' ? extra : directory
  if (surplus !== undefined) throw offboardInput(`${shown(surplus)} is an extra argument`, `Write: ${usage}`)
  return { tenant: checked(tenant, 'tenant', usage), clusters: [...clusters].sort(), directory, isContinued }
}

function checked(value: string | undefined, what: string, usage: string): string {
  if (value !== undefined && NAME.test(value)) return value
  const kind = what.startsWith('--') ? 'cluster' : what
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
