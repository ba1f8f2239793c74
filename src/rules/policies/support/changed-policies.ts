import { hashOf } from '../../../facts/fingerprint.ts'
import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { kindOf } from '../../../facts/kind-of.ts'
import { namespaceLabels } from '../../../facts/namespace-labels.ts'
import { readLabelSelector, selects } from '../../../kube/label-selector.ts'
import { at, canonical, type Node, originAt, type Path, stringAt } from '../../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../../kube/object.ts'
import { type Message, message } from '../../../message/message.ts'
import type { Origin } from '../../../origin.ts'
import { IMAGE_POLICY, NAMESPACED_IMAGE_POLICY } from '../../../policy/images/image-policies.ts'
import { EXCEPTION_KINDS } from '../../../policy/kyverno/exception-settings.ts'
import { matchesWildcard } from '../../../policy/kyverno/jmespath/wildcard.ts'
import { policyEngines } from '../../../policy/registry/policy-engines.ts'
import { exceptedPolicy } from '../../workloads/support/excepted-policy.ts'

/** An object of the platform on which depends what policies deny, and that a change edits, adds or removes. */
interface ChangedPolicy {
  /** As it is, or as it was where it is removed. */
  readonly object: KubeObject
  readonly origin: Origin
  /** How it changes, as the predicate of a sentence. */
  readonly what: Message
  readonly value: string
}

const kinds = () => [
  ...policyEngines.flatMap(engine => [...engine.kinds, ...engine.companions]),
  ...[IMAGE_POLICY, NAMESPACED_IMAGE_POLICY],
]

/** The policies, bindings and exceptions among these objects. */
export const policiesIn = (objects: readonly KubeObject[]): readonly KubeObject[] => {
  const all = new Set(kinds())
  return objects.filter(object => all.has(kindOf(object)))
}

/** Any change counts: whether less is denied then, only people can say of objects that are not in the fleet. */
export function* changedPolicies(before: FleetIndex, index: FleetIndex, cluster: string): Iterable<ChangedPolicy> {
  const of = (from: FleetIndex, kind: string) => from.platformAnywhere(cluster, kind).map(({ object }) => object)
  const policies = kinds().flatMap(kind => of(before, kind))
  yield* changesOf(before, index, cluster, policies)
  for (const object of EXCEPTION_KINDS.flatMap(kind => of(index, kind))) {
    const { namespace, name } = idOf(object)
    const isNew = !before.platformObject(cluster, kindOf(object), namespace, name)
    if (isNew && exceptedPolicy(before, cluster, object)) yield change(object, message`exempts objects from a policy`)
  }
  const parts = policies.flatMap(({ root }) => [...partsIn(root)])
  const isRead = (object: KubeObject) => parts.some(([key, node]) => PARAMETERS.has(key) && isNamed(object, node))
  const parameterKinds = new Set(parts.map(([key, node]) => (key === 'paramKind' ? kindIn(node) : '/ConfigMap')))
  const parameters = [...parameterKinds].flatMap(kind => of(before, kind).filter(isRead))
  yield* changesOf(before, index, cluster, parameters, message`is read by a policy, and `)
  const selectors = parts.filter(([key]) => key === 'namespaceSelector')
  for (const object of selectors.length > 0 ? of(index, '/Namespace') : []) {
    const { name } = idOf(object)
    const old = before.platformObject(cluster, '/Namespace', '', name)
    if (!old || old.root === object.root) continue
    const [was, is] = [before, index].map(one => namespaceLabels(one, cluster, name))
    const isLost = selectors.some(([, node, excludes]) => {
      const read = readLabelSelector(node)
      return read && selects(read, was!) !== excludes && selects(read, is!) === excludes
    })
    const labels = (at(object.root, ['metadata', 'labels']) ?? object.root).origin
    if (isLost) yield change(object, message`changes its labels, by which policies select`, labels)
  }
}

function* changesOf(
  before: FleetIndex,
  index: FleetIndex,
  cluster: string,
  objects: readonly KubeObject[],
  role?: Message,
): Iterable<ChangedPolicy> {
  const isParameter = role !== undefined
  for (const was of objects) {
    const { namespace, name } = idOf(was)
    const [old, is] = [before, index].map(one => one.platformObject(cluster, kindOf(was), namespace, name))
    if (!is) yield change(was, message`${role ?? message``}is removed`)
    else if (is.root !== old!.root && textOf(is, isParameter) !== textOf(old!, isParameter))
      yield change(
        is,
        message`${role ?? message``}is changed`,
        originAt(is.root, firstChange(at(old!.root, ['spec']), at(is.root, ['spec']), ['spec']) ?? []),
      )
  }
}

const change = (object: KubeObject, what: Message, origin = object.root.origin): ChangedPolicy => ({
  object,
  origin,
  what,
  value: hashOf([textOf(object)]),
})

/** All of it that decides; by their labels are only parameters selected. */
function textOf({ root }: KubeObject, isParameter = false): string {
  const fields = [...root.fields].filter(([key]) => !BESIDES.has(key))
  const labels = isParameter ? at(root, ['metadata', 'labels']) : undefined
  return JSON.stringify([
    labels ? canonical(labels) : '',
    ...fields.map(([key, { value }]) => [key, canonical(value)]).sort(),
  ])
}

const BESIDES = new Set(['apiVersion', 'metadata', 'status'])

/** Where two versions begin to differ. */
function firstChange(was: Node | undefined, is: Node | undefined, path: Path): Path | undefined {
  if (was && is && canonical(was) === canonical(is)) return undefined
  if (was?.type === 'map' && is?.type === 'map')
    for (const key of new Set([...is.fields.keys(), ...was.fields.keys()])) {
      const found = firstChange(at(was, [key]), at(is, [key]), [...path, key])
      if (found) return found
    }
  if (was?.type === 'list' && is?.type === 'list' && was.items.length === is.items.length)
    for (const [index, item] of is.items.entries()) {
      const found = firstChange(was.items[index], item, [...path, index])
      if (found) return found
    }
  return path
}

const PARAMETERS = new Set(['paramRef', 'configMap'])
const PARTS = new Set([...PARAMETERS, 'paramKind', 'namespaceSelector'])

/** What a policy says of what it reads and selects by: the name of the field, its value, and whether it excludes. */
function* partsIn(node: Node, name = '', excludes = false): Iterable<readonly [string, Node, boolean]> {
  if (PARTS.has(name)) yield [name, node, excludes]
  if (node.type === 'list') for (const item of node.items) yield* partsIn(item, '', excludes)
  if (node.type === 'map')
    for (const [key, { value }] of node.fields) yield* partsIn(value, key, excludes || key === 'exclude')
}

const kindIn = (node: Node) => `${groupOf(stringAt(node, ['apiVersion']) ?? '')}/${stringAt(node, ['kind']) ?? ''}`

/** Whether a reference may mean an object: what it names by an expression or selects may be any. */
function isNamed(object: KubeObject, reference: Node): boolean {
  const { namespace, name } = idOf(object)
  const fits = (key: string, text: string) =>
    matchesWildcard((stringAt(reference, [key]) || '*').replace(/\{\{.*?\}\}/g, '*'), text)
  return fits('name', name) && (namespace === '' || fits('namespace', namespace))
}
