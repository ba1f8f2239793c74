import { kindOf } from '../../facts/kind-of.ts'
import { oncePer } from '../../facts/once-per.ts'
import { shownObject } from '../../facts/shown.ts'
import { setKey } from '../../fleet/graph/open-resource-sets.ts'
import type { Fleet, FleetNode } from '../../fleet/model/fleet.ts'
import { renderResourceSet, setsIn } from '../../fleet/resource-sets/render-resource-set.ts'
import { INPUT_PROVIDER, OPERATOR_GROUP } from '../../flux/kinds.ts'
import { fieldTexts } from '../../kube/field-texts.ts'
import { at, canonical, type Node, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { firstNames } from '../../message/and-more.ts'
import type { RequiredApproval } from '../../rules/model/finding.ts'
import { onePerGroup } from './one-per-group.ts'

const FEW = 3
/** Fields of a ResourceSet that decide what becomes of a part that is not rendered. */
const DECIDING = new Set(['inputs', 'inputsFrom', 'inputStrategy', 'serviceAccountName', 'commonMetadata'])
const RECONCILE = ['metadata', 'annotations', `${OPERATOR_GROUP}/reconcile`]
/** Fields of a provider that decide when it asks, and not what. */
const TIMING = new Set(['schedule', 'timeout'])

/**
 * What ResourceSets of the platform newly make of parts that are not rendered: templates with functions, and inputs that a
 * provider has from somewhere else. The operator applies it, as cluster-admin or as an account, and nothing of it is
 * evaluated. Those of tenants have the rule `embedded-content`.
 */
export function unrenderedSets(head: Fleet, base: Fleet): RequiredApproval[] {
  const now = unrendered(head)
  if (now.length === 0) return []
  const known = new Set(unrendered(base).map(({ key }) => key))
  return onePerGroup(
    now.filter(({ key }) => !known.has(key)),
    ({ set, what }) => JSON.stringify([set.root.origin, what]),
    ({ set, what }, others) => {
      const { kind, namespace, name } = idOf(set)
      const message = `${shownObject(kind, namespace, name)}${others} creates objects that are not evaluated (${what})`
      return { rule: 'embedded-content', path: set.root.origin.file, message }
    },
  )
}

interface Unrendered {
  readonly set: KubeObject
  /** Where its parts stand. */
  readonly what: string
  /** Equal for what makes the same on the same cluster. */
  readonly key: string
}

const unrendered = oncePer(({ nodes }: Fleet): readonly Unrendered[] => {
  const opened = new Set(nodes.map(({ key }) => key))
  const found = nodes.flatMap(node => {
    if (node.tenant !== undefined) return []
    return setsIn(node.objects).flatMap(set => {
      const parts = partsOf(set, node.hub === undefined && opened.has(setKey(node.cluster, set)))
      return parts.length === 0 ? [] : [{ node, set, parts }]
    })
  })
  if (found.length === 0) return []
  const providers = providersIn(nodes)
  return found.map(({ node, set, parts }) => {
    const own = providers.get(placeKey(node, idOf(set).namespace)) ?? []
    const key = keyOf(
      node,
      set,
      parts.map(([, part]) => canonical(part)),
      own,
    )
    const places = parts.map(([place]) => place)
    return { set, what: firstNames(places, FEW), key }
  })
})

/** What of a set is not evaluated; of one that is not opened, on another cluster or nested too deep, all of it. */
function partsOf(set: KubeObject, isOpened: boolean): (readonly [place: string, part: Node])[] {
  const { objects, left } = renderResourceSet(set)
  const spec = at(set.root, ['spec'])
  if (!isOpened && objects.length > 0 && spec) return [['spec', spec]]
  return left.flatMap(one => (one.part ? [[one.at, one.part] as const] : []))
}

function keyOf(node: FleetNode, set: KubeObject, parts: readonly string[], providers: readonly string[]): string {
  const { namespace, name } = idOf(set)
  const spec = fieldTexts(at(set.root, ['spec']), field => DECIDING.has(field))
  const hasProviders = spec.some(([field]) => field === 'inputsFrom')
  const state = stringAt(set.root, RECONCILE) ?? ''
  return JSON.stringify([node.cluster, namespace, name, state, parts, spec, hasProviders ? providers : []])
}

const placeKey = ({ cluster }: FleetNode, namespace: string) => JSON.stringify([cluster, namespace])

/** The providers of each namespace: a ResourceSet has inputs from its own namespace only, by name or by labels. */
function providersIn(nodes: readonly FleetNode[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  for (const node of nodes) {
    for (const object of node.objects) {
      if (kindOf(object) !== INPUT_PROVIDER) continue
      const { namespace, name } = idOf(object)
      const labels = at(object.root, ['metadata', 'labels'])
      const spec = fieldTexts(at(object.root, ['spec']), field => !TIMING.has(field))
      const text = JSON.stringify([name, labels ? canonical(labels) : '', spec])
      const key = placeKey(node, namespace)
      found.set(key, [...(found.get(key) ?? []), text])
    }
  }
  for (const texts of found.values()) texts.sort()
  return found
}
