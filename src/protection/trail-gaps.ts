import { andMore } from '../message/and-more.ts'
import type { GateGap } from './evaluate-gate.ts'
import type { ProtectionLayer } from './protected-branch.ts'

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
    ...forged(foreign),
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

function forged(foreign: readonly string[]): GateGap[] {
  if (foreign.length === 0) return []
  const shown = foreign.slice(0, LISTED).map(sha => sha.slice(0, 10))
  const more = andMore(foreign.length - LISTED)
  const what = `this App did not write ${shown.join(', ')}${more}, or GitHub does not verify the signature`
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
