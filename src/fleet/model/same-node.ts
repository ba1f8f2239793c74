import type { BailiwickError } from '../../errors.ts'
import type { Hole } from '../../kube/hole.ts'
import type { FleetNode, NodeSource } from './fleet.ts'
import { revisionKey } from './revision-of.ts'
import { sameDeep } from './same-deep.ts'

/**
 * Whether two nodes are the same but for what they render and the commits that it came from: nobody who evaluates asks for
 * a commit.
 */
export function sameButObjects(a: FleetNode, b: FleetNode): boolean {
  return (
    a.key === b.key &&
    a.kustomization === b.kustomization &&
    a.cluster === b.cluster &&
    a.namespace === b.namespace &&
    a.name === b.name &&
    a.parent === b.parent &&
    a.tenant === b.tenant &&
    a.path === b.path &&
    a.suspend === b.suspend &&
    a.prune === b.prune &&
    a.inputs === b.inputs &&
    a.values === b.values &&
    sameDeep(a.needs, b.needs) &&
    a.unknown === b.unknown &&
    a.identity.user === b.identity.user &&
    a.identity.impersonated === b.identity.impersonated &&
    (a.digest === '') === (b.digest === '') &&
    sameTexts(a.dependsOn, b.dependsOn) &&
    sameTexts(a.hides, b.hides) &&
    sameSource(a.source, b.source) &&
    sameCharts(a.charts, b.charts) &&
    sameHoles(a.holes, b.holes) &&
    sameError(a.error, b.error)
  )
}

/** Whether two nodes are the same in everything. */
export function sameNode(a: FleetNode, b: FleetNode): boolean {
  if (a === b) return true
  const sameObjects = a.digest === b.digest && a.objects === b.objects && sameRetained(a, b)
  return sameButObjects(a, b) && sameObjects && commits(a) === commits(b)
}

interface Retaining {
  readonly retained?: FleetNode['retained'] | undefined
}

/** Whether the very same objects of last complete builds still count. */
export function sameRetained({ retained: a }: Retaining, { retained: b }: Retaining): boolean {
  if (a === b) return true
  return a?.length === b?.length && (a ?? []).every((object, index) => object === b?.[index])
}

const commits = ({ source, charts }: FleetNode): string =>
  [source, ...(source.includes ?? []), ...(charts ?? [])].map(revisionKey).join(' ')

function sameTexts(a: readonly string[] | undefined, b: readonly string[] | undefined): boolean {
  if (a === b) return true
  return a?.length === b?.length && (a ?? []).every((text, index) => text === b?.[index])
}

function sameSource(a: NodeSource, b: NodeSource): boolean {
  return a === b || withoutCommit(a) === withoutCommit(b)
}

function sameCharts(a: FleetNode['charts'], b: FleetNode['charts']): boolean {
  if (a === b) return true
  return a?.length === b?.length && (a ?? []).every((one, index) => withoutCommit(one) === withoutCommit(b![index]!))
}

function withoutCommit({ commit: _c, tag: _t, originRevision: _o, includes, ...rest }: NodeSource): string {
  const parts = includes?.map(({ commit: _commit, ...one }) => one)
  return JSON.stringify([rest, parts])
}

function sameHoles(a: FleetNode['holes'] = [], b: FleetNode['holes'] = []): boolean {
  return a.length === b.length && a.every((hole, index) => sameHole(hole, b[index]!))
}

function sameHole(a: Hole, b: Hole): boolean {
  return a.fatal === b.fatal && a.effect === b.effect && a.hides === b.hides && sameError(a.error, b.error)
}

function sameError(a: BailiwickError | undefined, b: BailiwickError | undefined): boolean {
  if (a === b) return true
  if (!a || !b) return false
  const textOf = ({ code, message, origin, fix, rule }: BailiwickError) =>
    JSON.stringify([code, message, origin ?? null, fix ?? null, rule ?? null])
  return textOf(a) === textOf(b)
}
