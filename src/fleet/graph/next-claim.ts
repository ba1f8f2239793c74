import { unlessRefused } from '../../base/errors.ts'
import { artifactPath } from '../../flux/artifact.ts'
import { isKustomizationKind } from '../../flux/references.ts'
import { fluxKind, sourceNamed } from '../../kube/flux-kinds.ts'
import { canonical } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { nodeKey } from '../model/fleet.ts'
import { readName, readSpec } from '../model/kustomization-spec.ts'
import { setsIn } from '../rendering/render-resource-set.ts'
import { SOURCE_GROUPS } from '../sources/sources.ts'
import { CAPSULE_GROUP, nameOfOwner, readCapsuleTenants } from '../tenancy/capsule.ts'
import { needsOf, valueId } from './node-values.ts'
import { attempt, type Claim, type Draft, enqueue, type ProvidedBy, releaseBlocked, type Walk } from './walk.ts'

/**
 * The next claim; one whose source was not known yet comes back as soon as that appeared, or at the very end. One
 * that waits for values goes on without them when no node is left that could render them. `openSet`: follows a ResourceSet
 * of a last complete build.
 */
export function nextClaim(walk: Walk, openSet: OpenSet): Claim | undefined {
  for (;;) {
    const platform = walk.claims[0].shift() ?? walk.claims[1].shift()
    if (platform) return platform
    const released = walk.waiting.release(walk.index.added())
    for (const claim of released) enqueue(walk, claim)
    if (released.length > 0) continue
    if (releaseRetained(walk, 'platform', openSet)) continue
    if (giveUp(walk, walk.waiting.hasPlatform ? [] : ['platform'])) continue
    const tenants = walk.claims[2].shift()
    if (tenants) return tenants
    if (releaseRetained(walk, 'tenants', openSet)) continue
    if (!walk.index.complete) for (const id of presumedSources(walk)) walk.index.presumed.add(id)
    walk.index.complete = true
    const last = walk.waiting.first()
    if (last) return last
    if (!giveUp(walk, ['platform', 'anybody'])) return undefined
  }
}

type OpenSet = (draft: Draft, set: KubeObject) => void

function giveUp(walk: Walk, sides: readonly ProvidedBy[]): boolean {
  for (const side of sides) {
    const claims = walk.blocked.giveUp(side)
    for (const claim of claims) {
      walk.missed.set(nodeKey(walk.cluster, idOf(claim.kustomization)), new Set())
      enqueue(walk, claim)
    }
    if (claims.length > 0) return true
  }
  return false
}

/**
 * Takes note of what a node's last complete build says about tenants. At once: whose a namespace is decides how everything
 * in it is read. Whatever is rendered now says more.
 */
export function keepTenants(walk: Walk, { tenant, retained = [] }: Draft): void {
  if (tenant !== undefined) return
  const capsule: KubeObject[] = []
  for (const object of retained) {
    const { apiVersion, kind } = idOf(object)
    const group = groupOf(apiVersion)
    if (group === CAPSULE_GROUP) capsule.push(object)
    else if (group === '' && kind === 'Namespace') walk.tenancy.keepDeclared(object)
  }
  const tenants = readCapsuleTenants(capsule)
  if (tenants.length === 0) return
  for (const { owners } of tenants) for (const owner of owners) walk.capsule.add(nameOfOwner(owner))
  walk.tenancy.capsule.add(tenants)
}

/**
 * Takes note of the sources, values, Kustomizations and ResourceSets of last complete builds, of one side. Only when nothing that is
 * rendered now is left on that side: where both say something, what is rendered now counts. False: there was nothing.
 */
function releaseRetained(walk: Walk, side: 'platform' | 'tenants', openSet: OpenSet): boolean {
  const drafts = walk.incomplete[side].splice(0)
  for (const draft of drafts) {
    for (const object of draft.retained ?? []) release(walk, draft, object)
    for (const set of setsIn(draft.retained ?? [])) openSet(draft, set)
  }
  return drafts.length > 0
}

function release(walk: Walk, draft: Draft, object: KubeObject): void {
  const id = idOf(object)
  const group = groupOf(id.apiVersion)
  const { tenant } = draft
  if (tenant !== undefined && walk.tenancy.owners.get(id.namespace) !== tenant) return
  if (SOURCE_GROUPS.has(group)) {
    const known = walk.index.find(`${id.kind}/${id.namespace}/${id.name}`)
    if (!known || known === 'bootstrap') attempt(draft, () => walk.index.add(object, draft))
  } else if (group === '') {
    const isKnown = walk.values.has(`${id.kind}/${id.namespace}/${id.name}`)
    releaseBlocked(walk, isKnown ? undefined : walk.values.add(object))
  } else if (isKustomizationKind(group, id.kind)) {
    const key = nodeKey(walk.cluster, id)
    // a root that follows something else now is not what it was, and no other one for that
    if (key !== draft.key && !walk.claimed.has(key)) enqueue(walk, { kustomization: object, parent: draft })
  }
}

/**
 * Sources in git that nothing declares, and of which the platform's Kustomizations apply folders that this repository
 * has, all of them: they stand for this repository, which someone applied by hand. The root says nothing, every
 * repository has one.
 */
function presumedSources({ waiting, sources, tenancy }: Walk): string[] {
  const { tree } = sources.own.artifact
  const isHere = (claim: Claim, id: string): boolean => {
    if (claim.parent.tenant !== undefined) return false
    return unlessRefused(false, () => {
      const { namespace } = readName(claim.kustomization)
      const { path, source } = readSpec(claim.kustomization, namespace)
      if (fluxKind(sourceNamed(source.kind))?.source !== 'git') return false
      if (id !== `${source.kind}/${source.namespace}/${source.name}`) return false
      if (tenancy.owners.has(namespace) || tenancy.owners.has(source.namespace)) return false
      const folder = artifactPath(path)
      return folder !== '' && tree.entry(folder)?.type === 'directory'
    })
  }
  return waiting.sources().flatMap(([id, claims]) => (claims.every(claim => isHere(claim, id)) ? [id] : []))
}

/** How often a cluster is walked for values that are rendered from themselves. */
export const PRESUMED_ROUNDS = 3

/**
 * What the platform substitutes from and renders only by that itself: a cluster whose settings were applied by hand once
 * has them, and gets from each revision those of the next. The objects that the next walk starts with; undefined where
 * another walk would show nothing else.
 */
export function presumedValues(walk: Walk, before: readonly KubeObject[]): readonly KubeObject[] | undefined {
  if (!walk.values.allowsUndeclared) return undefined
  const wanted = wantedOf(walk)
  if (wanted.size === 0) return undefined
  const found = [...walk.drafts.values()].filter(isPlatform).flatMap(({ objects }) => objects.filter(isIn(wanted)))
  return described(found) === described(before) ? undefined : found
}

/** What nothing gave in time, and what was presumed. */
function wantedOf({ drafts, missed, values }: Walk): ReadonlySet<string> {
  const ids = [...drafts.values()].filter(isPlatform).flatMap(({ key, kustomization }) => {
    const absent = missed.get(key)
    return needsOf(kustomization).flatMap(({ id }) => (absent?.has(id) || values.isPresumed(id) ? [id] : []))
  })
  return new Set(ids.filter(id => values.has(id)))
}

/** A remote cluster has values of its own, and a tenant's are no settings of the platform. */
const isPlatform = ({ tenant, hub }: Draft) => tenant === undefined && hub === undefined

const isIn = (wanted: ReadonlySet<string>) => (object: KubeObject) => {
  const { apiVersion, kind, namespace, name } = idOf(object)
  if ((kind !== 'ConfigMap' && kind !== 'Secret') || groupOf(apiVersion) !== '') return false
  return wanted.has(valueId(kind, namespace, name))
}

const described = (objects: readonly KubeObject[]) => JSON.stringify(objects.map(({ root }) => canonical(root)))
