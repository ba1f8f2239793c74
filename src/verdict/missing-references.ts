import { probably } from '../base/name-list.ts'
import { oncePer } from '../base/once-per.ts'
import { objectText, shownId } from '../fleet/facts/shown.ts'
import { type Fleet, type FleetNode, nodesByKey } from '../fleet/model/fleet.ts'
import { type NeededObject, neededBy } from '../flux/references.ts'
import { namesReadBy } from '../kube/capabilities/named-values.ts'
import { fluxKind, KUSTOMIZATION } from '../kube/flux-kinds.ts'
import { originAt, stringAt } from '../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../kube/object.ts'
import type { NodeFailure } from '../rules/model/finding.ts'
import { failureOf } from './findings.ts'

/** A reference of an object that a node renders. */
interface Use extends NeededObject {
  readonly node: FleetNode
  readonly object: KubeObject
}

/**
 * References of Flux's objects to what this change takes away, or names in the place of what is there: Flux would wait for it.
 * A new reference counts where something of a similar name is there, every node of the cluster is visible, and it is not to a Secret:
 * people make those by hand.
 */
export function missingReferences(head: Fleet, base: Fleet): NodeFailure[] {
  const before = nodesByKey(base.nodes)
  const after = nodesByKey(head.nodes)
  const isChanged = (node: FleetNode, place: number) =>
    head.nodes[place] !== base.nodes[place] && before.get(node.key)?.digest !== after.get(node.key)?.digest
  const [now, then] = [head.nodes.filter(isChanged), base.nodes.filter(isChanged)]
  const known = new Map(then.flatMap(usesOf).map(use => [placeOf(use), use.target]))
  const fresh = now.flatMap(usesOf).filter(use => known.get(placeOf(use)) !== use.target && isLookedFor(use))
  // of most objects nothing is looked at but that they stay
  const [were, are] = [then, now].map(nodes => new Set(nodes.flatMap(objectsOf))) as [Set<KubeObject>, Set<KubeObject>]
  const left = new Set(now.flatMap(node => idsOf(node, were)))
  const removed = new Set(then.flatMap(node => idsOf(node, are)).filter(id => !left.has(id)))
  const lost = removed.size === 0 ? [] : head.nodes.flatMap(usesOf).filter(use => removed.has(atTarget(use)))
  if (fresh.length === 0 && lost.length === 0) return []

  const present = new Set(head.nodes.flatMap(node => [...idsOf(node), ...madeBy(node)]))
  const unseen = new Set(head.nodes.filter(isUnseen).map(({ cluster }) => cluster))
  const isThere = ({ cluster }: FleetNode, target: string) => present.has(`${cluster} ${target}`)
  const meantBy = similarNames(present)
  const broken = fresh.filter(use => {
    if (isThere(use.node, use.target)) return false
    const was = known.get(placeOf(use))
    if (was !== undefined && isThere(use.node, was)) return true
    const isByHand = /^(Secret|ConfigMap)\//.test(use.target)
    return !isByHand && !unseen.has(use.node.cluster) && meantBy(use) !== undefined
  })
  const missing = [...broken, ...lost].filter(use => isLookedFor(use) && !isThere(use.node, use.target))
  return [...new Map(missing.map(use => [placeOf(use), failure(use, meantBy(use))])).values()]
}

const isUnseen = ({ error, holes, source }: FleetNode) =>
  error !== undefined || holes !== undefined || source.opaque !== undefined

/** A tenant's reference to another namespace is refused before Flux looks for what it names. */
const isLookedFor = ({ node, object, target }: Use) =>
  node.tenant === undefined || target.split('/')[1] === idOf(object).namespace

/** How many pairs of characters are compared in all. */
const MAX_PAIRS = 20_000_000

/**
 * The similar name that exists beside the one referenced: a source that is not in git at all may be applied by hand.
 * A tenant decides how many names there are, and how long: beyond the limit each counts as similar, to an empty name.
 */
function similarNames(present: ReadonlySet<string>): (use: Use) => string | undefined {
  const beside = Map.groupBy(present, placeBefore)
  let left = MAX_PAIRS
  return use => {
    const id = atTarget(use)
    const start = placeBefore(id)
    const names = (beside.get(start) ?? []).map(one => one.slice(start.length))
    left -= (id.length - start.length) * names.reduce((sum, { length }) => sum + length, 0)
    return left < 0 ? '' : probably(id.slice(start.length), names)
  }
}

const placeBefore = (id: string) => id.slice(0, id.lastIndexOf('/') + 1)

const atTarget = ({ node, target }: Use) => `${node.cluster} ${target}`
const placeOf = ({ node, object, path }: Use) => `${node.cluster} ${nameOf(object)} ${path.join('.')}`
const nameOf = oncePer((object: KubeObject) => {
  const { kind, namespace, name } = idOf(object)
  return `${kind}/${namespace}/${name}`
})
const objectsOf = ({ objects, retained = [] }: FleetNode) => [...objects, ...retained]
const idsOf = (node: FleetNode, besides?: ReadonlySet<KubeObject>) =>
  objectsOf(node).flatMap(object => (besides?.has(object) ? [] : `${node.cluster} ${nameOf(object)}`))

/** What operators make of objects of theirs, by the places at which those name it. */
const MADE = [
  ['metadata', 'name'],
  ['spec', 'target', 'name'],
  ['spec', 'secretName'],
]
const madeBy = (node: FleetNode) =>
  objectsOf(node).flatMap(({ root, ...rest }) => {
    const { apiVersion, namespace } = idOf({ root, ...rest })
    const names = groupOf(apiVersion) === '' ? [] : MADE.flatMap(path => stringAt(root, path) ?? [])
    return names.map(name => `${node.cluster} Secret/${namespace}/${name}`)
  })

const usesOf = (node: FleetNode): Use[] =>
  node.objects.flatMap(object => needsOf(object).map(need => ({ ...need, node, object })))

const NO_NEEDS: readonly NeededObject[] = []
const needsOf = oncePer((object: KubeObject): readonly NeededObject[] => {
  const { apiVersion, kind, namespace } = idOf(object)
  const own = `${groupOf(apiVersion)}/${kind}`
  if (!fluxKind(own)) return NO_NEEDS
  // what is substituted from is looked for where it is substituted
  const reads = namesReadBy(object)
    .filter(({ path }) => path[1] !== 'postBuild')
    .map(({ path, kind, name }) => ({ path, target: `${kind}/${namespace}/${name}` }))
  // the source of a Kustomization is looked for where its content is read
  const needs = neededBy(object).filter(({ path }) => own !== KUSTOMIZATION || path[1] !== 'sourceRef')
  return [...needs, ...reads]
})

function failure({ node, object, path, target }: Use, meant: string | undefined): NodeFailure {
  const message = `${objectText(object)}: ${shownId(target)} not found, because no object of the fleet declares it. Flux would wait for it`
  const fix = meant
    ? `Did you mean ${shownId(`${placeBefore(target)}${meant}`)}?`
    : 'Declare the object in the fleet, or correct its kind, name and namespace.'
  return failureOf(node, { code: 'flux-invalid', message, fix }, originAt(object.root, path))
}
