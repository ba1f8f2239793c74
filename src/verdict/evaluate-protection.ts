import { firstNames } from '../base/name-list.ts'
import { CHECK_NAME, checkNameOf, isTenancyCheck } from './check-names.ts'

/**
 * `real`: only commits that our App passed can reach the branch. `weak`: our check is required from our App, but can be
 * bypassed. `open`: our check is not required, or another source can report it. `unknown`: GitHub does not show it.
 */
export type GateState = 'real' | 'weak' | 'open' | 'unknown'

/** A reason why a gate is not real, or a note about it. */
export interface GateGap {
  /** `open` and `weak` decide the state; a note does not. */
  readonly level: 'open' | 'weak' | 'note'
  readonly what: string
  /** '' where nothing is to be done. */
  readonly fix: string
}

export interface Gate {
  readonly state: GateState
  readonly gaps: readonly GateGap[]
  /** Name that should be required in place of another one. */
  readonly asks?: string
}

/** The check that must be required, and the App that reports it. */
export interface OurCheck {
  readonly name: string
  /** Id of our App. */
  readonly app: number
}

/** Determines whether our check gates a branch, from its protection on GitHub alone. Pure. */
export function evaluateProtection(branch: ProtectedBranch, check: OurCheck): Gate {
  // a pass under the branch's own name, or under the plain one, is never about another branch
  const names = [check.name, checkNameOf(branch.branch), CHECK_NAME]
  const gates = names.map(name => evaluateNamed(branch, { ...check, name }))
  const gate = gates.find(({ state }) => state === 'real' || state === 'weak') ?? gates[0]!
  const required = branch.layers.flatMap(({ checks }) => checks.map(({ context }) => context))
  const other = required.find(name => isTenancyCheck(name) && !names.slice(0, 2).includes(name))
  if (other === undefined) return gate
  const what = `it requires ${shown(other)}, the check of another branch, which fails here where a fleet follows both`
  const fix = `Require ${shown(check.name)} instead.`
  return { ...gate, gaps: [...gate.gaps, { level: 'note', what, fix }], asks: check.name }
}

function evaluateNamed(branch: ProtectedBranch, check: OurCheck): Gate {
  const bound = branch.layers.filter(layer => requires(layer, check.name, app => app === check.app))
  if (bound.length === 0) {
    const gaps = [unbound(branch, check), ...evaluated(branch), ...forged(branch)]
    const named = branch.layers.some(layer => requires(layer, check.name, () => true))
    return { state: branch.hidden && !named ? 'unknown' : 'open', gaps }
  }
  const gaps = [...bypass(bound), ...ways(branch.layers), ...evaluated(branch)]
  return { state: gaps.some(gap => gap.level === 'weak') ? 'weak' : 'real', gaps }
}

function requires(layer: ProtectionLayer, name: string, by: (app: number | null) => boolean): boolean {
  return layer.checks.some(one => one.context === name && by(one.app))
}

/** Why no layer requires our check of our App. GitHub compares names of checks to the letter. */
function unbound({ layers, hidden }: ProtectedBranch, { name }: OurCheck): GateGap {
  const anybody = layers.find(layer => requires(layer, name, app => app === null))
  if (anybody) {
    const what = `${nameOf(anybody)} requires ${shown(name)} from any source: anyone who can set a status can pass it`
    return { level: 'open', what, fix: 'Choose this App as the source of the check.' }
  }
  const other = layers.find(layer => requires(layer, name, () => true))
  if (other) {
    const what = `${nameOf(other)} requires ${shown(name)} from another App`
    return { level: 'open', what, fix: 'Choose this App as the source of the check.' }
  }
  const fix = 'Require the check, with this App as its source.'
  if (!hidden) return { level: 'open', what: `nothing requires ${shown(name)}`, fix }
  const what = `no ruleset requires ${shown(name)}, and GitHub does not show the branch protection to the App`
  return { level: 'open', what, fix: 'Grant the App the permission "Administration: read", or check it yourself.' }
}

/** Who gets past all layers that hold: the one with the fewest ways around it counts. */
function bypass(bound: readonly ProtectionLayer[]): GateGap[] {
  if (bound.some(layer => layer.bypass?.length === 0)) return []
  const known = bound.filter(layer => layer.bypass !== undefined)
  if (known.length < bound.length) {
    const what = 'GitHub shows who can bypass the ruleset only to Apps with "Administration: write"'
    return [{ level: 'note', what, fix: 'Check that its bypass list is empty.' }]
  }
  return known.flatMap(layer =>
    (layer.bypass ?? []).map(who => ({
      level: 'weak' as const,
      what: `${who} can bypass ${nameOf(layer)}`,
      fix: layer.kind === 'ruleset' ? 'Empty its bypass list.' : 'Turn on `Do not allow bypassing the above settings`.',
    })),
  )
}

/** Ways onto the branch besides a pull request whose present state was evaluated. */
function ways(layers: readonly ProtectionLayer[]): GateGap[] {
  const gaps: GateGap[] = []
  const open = (of: (layer: ProtectionLayer) => boolean | undefined, what: string, fix: string) => {
    if (layers.some(layer => of(layer) === true)) return
    const unseen = layers.some(layer => of(layer) === undefined)
    const words = unseen ? `GitHub does not show whether ${what}` : what
    gaps.push({ level: unseen ? 'note' : 'weak', what: words, fix })
  }
  open(
    one => (one.mergeQueue ? true : one.strict),
    'a pull request can be merged with a verdict for an older base',
    'Require branches to be up to date, or a merge queue by a ruleset.',
  )
  open(one => one.pullRequest, 'commits can be pushed without a pull request', 'Require a pull request.')
  open(
    one => one.forbidsForcePush,
    'force pushes can replace the evaluated commits with other ones',
    'Block force pushes.',
  )
  open(one => one.forbidsDeletion, 'the branch can be deleted and created again from any commit', 'Restrict deletions.')
  return gaps
}

const evaluated = ({ evaluated }: ProtectedBranch): GateGap[] =>
  evaluated.map(name => ({
    level: 'note',
    what: `the ruleset ${shown(name)} requires the check, but its enforcement status is Evaluate, which does not block`,
    fix: 'Set its enforcement status to Active.',
  }))

const forged = ({ namesakes }: ProtectedBranch): GateGap[] =>
  namesakes.map(slug => ({
    level: 'open',
    what: `the App ${shown(slug)} reports a check of the same name here`,
    fix: 'Find out who set that up. A check that is required from this App ignores it.',
  }))

function nameOf({ kind, name, of }: ProtectionLayer): string {
  if (kind === 'protection') return 'the branch protection'
  return `the ruleset ${shown(name)}${of === 'Repository' ? '' : ` of the ${of.toLowerCase()}`}`
}

/** A backtick would end the quotation. */
const shown = (value: string) => `\`${value.replaceAll('`', "'")}\``

/** A check that must have passed; `app` null: any App may report a check or a status of that name. */
interface RequiredCheck {
  readonly context: string
  readonly app: number | null
}

/** The requirements of one ruleset or branch protection; undefined if GitHub does not show them to the App. */
export interface ProtectionLayer {
  /** `protection`: the branch protection of the repository's settings. */
  readonly kind: 'protection' | 'ruleset'
  /** Of a ruleset. */
  readonly name: string
  /** Whose ruleset it is: `Repository`, `Organization`, `Enterprise`. */
  readonly of: string
  readonly checks: readonly RequiredCheck[]
  /** Whether a branch must be up to date before it is merged. */
  readonly strict: boolean | undefined
  readonly mergeQueue: boolean
  readonly pullRequest: boolean | undefined
  readonly forbidsForcePush: boolean | undefined
  readonly forbidsDeletion: boolean | undefined
  /** Who may bypass it, in words; empty: no one. */
  readonly bypass: readonly string[] | undefined
}

/** The protection of one branch, as GitHub reports it. Plain data. */
export interface ProtectedBranch {
  /** Normalized address of the repository. */
  readonly url: string
  readonly branch: string
  readonly layers: readonly ProtectionLayer[]
  /** Whether the branch protection could not be read, so that it may ask more than `layers` show. */
  readonly hidden: boolean
  /** Rulesets that would require our check and are only evaluated. */
  readonly evaluated: readonly string[]
  /** Other Apps that reported a check of our name on the head of the branch. */
  readonly namesakes: readonly string[]
}

/** The branch of a trail: its protection on GitHub, and who wrote its commits. Plain data. */
interface TrailBranch {
  readonly layers: readonly ProtectionLayer[]
  /** Whether GitHub does not show the branch protection to the App. */
  readonly hidden: boolean
  /** Ids of the latest commits that the App did not write, or whose signature GitHub does not verify. */
  readonly foreign: readonly string[]
}

const LISTED = 5

/** Why the branch of a trail may lose what was written to it, or already has what the App did not write. */
export function trailGaps({ layers, hidden, foreign }: TrailBranch, app: number): readonly GateGap[] {
  return [
    ...forgedTrail(foreign),
    ...missing(
      layers,
      hidden,
      one => one.forbidsForcePush,
      'force pushes can replace its entries',
      'Block force pushes',
    ),
    ...missing(layers, hidden, one => one.forbidsDeletion, 'it can be deleted', 'Restrict deletions'),
    ...bypasses(layers, app),
  ]
}

function forgedTrail(foreign: readonly string[]): GateGap[] {
  if (foreign.length === 0) return []
  const commits = firstNames(foreign, LISTED, sha => sha.slice(0, 10))
  const what = `this App did not write ${commits}, or GitHub does not verify the signature`
  return [{ level: 'open', what, fix: 'Compare the branch with `bailiwick trail verify --anchors`, and restore it.' }]
}

function missing(
  layers: readonly ProtectionLayer[],
  hidden: boolean,
  forbids: (layer: ProtectionLayer) => boolean | undefined,
  what: string,
  rule: string,
): GateGap[] {
  if (layers.some(layer => forbids(layer) === true)) return []
  const fix = `${rule} by a ruleset for its branch.`
  if (!hidden && layers.every(layer => forbids(layer) !== undefined)) return [{ level: 'weak', what, fix }]
  return [{ level: 'note', what: `GitHub does not show whether ${what}`, fix }]
}

/** The App itself must be able to write: everybody else who passes by every layer is a way to change entries. */
function bypasses(layers: readonly ProtectionLayer[], app: number): GateGap[] {
  const holding = layers.filter(layer => layer.forbidsForcePush === true)
  const known = holding.map(({ bypass }) => bypass?.filter(who => who !== `the App with the ID ${app}`))
  if (holding.length === 0 || known.some(who => who?.length === 0)) return []
  const fix = 'Leave only this App on the bypass list of its ruleset.'
  if (known.includes(undefined)) {
    const what = 'GitHub shows who can bypass its ruleset only to Apps with "Administration: write"'
    return [{ level: 'note', what, fix }]
  }
  return [...new Set(known.flatMap(who => who ?? []))].map(who => ({
    ...{ level: 'weak' as const, what: `${who} can bypass its protection`, fix },
  }))
}
