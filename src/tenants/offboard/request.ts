import { BailiwickError } from '../../base/errors.ts'
import { sealedLine } from '../../base/sealed-line.ts'

/** The request of a fleet admin: remove a tenant from the fleet or from some clusters. */
export interface OffboardRequest {
  readonly tenant: string
  /** Empty: every cluster of the tenant. */
  readonly clusters: readonly string[]
}

/**
 * The next change. `workloads`: removes what applies as the tenant, so that Flux prunes while the account has its rights. `rest`: removes
 * the sources, accounts, roles, namespaces and credentials that nothing needs any longer. `done`: nothing is left to do.
 */
export type OffboardStage = 'workloads' | 'rest' | 'done'

/** How to write it in a comment. */
export const OFFBOARD_USAGE = 'offboard TENANT [--cluster C [--cluster C2]] [--continue]'

/** Names that a fleet may have: those of tenants are label values, those of clusters folders. */
const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/

/** The arguments of `offboard`. */
interface OffboardWords extends OffboardRequest {
  /** Of the command line. */
  readonly directory: string | undefined
  /** Go on with the next change without waiting for results. */
  readonly isContinued: boolean
}

/** Reads the arguments of `offboard`; `takes`: those allowed besides the tenant. Throws `offboard-input`. */
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

/** Describes one change of an offboarding, in the text of its pull request and of its commit. */
export interface OffboardRecord {
  /** Id of the fleet's repository: names can move. */
  readonly fleet: number
  readonly tenant: string
  /** As it was asked for; empty: every cluster. */
  readonly clusters: readonly string[]
  readonly stage: Exclude<OffboardStage, 'done'>
  /** Clusters that the change is about, by name. */
  readonly on: readonly string[]
  /** Addresses of the tenant's repositories. */
  readonly sources: readonly string[]
  /** The fleet admin who asked, in which comment of which issue, and when. */
  readonly by: string
  readonly comment: number
  readonly issue: number
  readonly at: string
}

/** The record as a line of the pull request and its commit. */
const OFFBOARD = sealedLine<OffboardRecord>('offboard', 20_000)
export const offboardMarker = OFFBOARD.write

/** The record in a text; undefined where there is none, another secret sealed it, or it is not one of an offboarding. */
export function readOffboardMarker(text: string, secret: string): OffboardRecord | undefined {
  const record = OFFBOARD.read(text, secret)
  // of an earlier release: a move, a rename or a hand-over, of which nothing may be taken for an offboarding
  return record && ['to', 'name', 'namespace'].some(key => Object.hasOwn(record, key)) ? undefined : record
}
