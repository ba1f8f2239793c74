import { hashOf } from '../../../facts/fingerprint.ts'
import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { objectPart } from '../../../facts/shown.ts'
import { readLabelSelector, selects } from '../../../kube/label-selector.ts'
import { at, canonical, type Node, type Path, stringAt } from '../../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../../kube/object.ts'
import { textMapOf } from '../../../kube/read-text.ts'
import { type Message, message } from '../../../message/message.ts'
import type { Origin } from '../../../origin.ts'
import { matchesWildcard } from '../../../policy/kyverno/jmespath/wildcard.ts'

/** Where a policy or its binding names what it compares with. */
interface Reference {
  readonly path: Path
  readonly node: Node
  /** `<group>/<Kind>`. */
  readonly kind: string
}

interface ChangedParameters {
  readonly path: Path
  readonly origin: Origin
  readonly what: Message
  readonly value: string
}

/** The objects that a policy or its bindings compare with (`paramRef`, `configMap` of a context), and that a change edits or removes. */
export function* changedParameters(
  before: FleetIndex,
  index: FleetIndex,
  cluster: string,
  [policy, ...bindings]: readonly [KubeObject, ...KubeObject[]],
): Iterable<ChangedParameters> {
  const paramKind = at(policy.root, ['spec', 'paramKind'])
  for (const { path, node, kind } of [policy, ...bindings].flatMap(one => [...referencesIn(one.root, paramKind)])) {
    for (const { object: was } of before.platformAnywhere(cluster, kind)) {
      if (!isNamed(was, node)) continue
      const { namespace, name } = idOf(was)
      const is = index.platformObject(cluster, kind, namespace, name)
      if (is && textOf(is) === textOf(was) && isNamed(is, node)) continue
      const what = message`compares with ${objectPart(idOf(was).kind, namespace, name)}, which ${is ? 'changes' : 'is removed'}`
      yield { path, origin: (is ?? was).root.origin, what, value: hashOf([...path.map(String), textOf(is ?? was)]) }
    }
  }
}

function* referencesIn(node: Node, paramKind: Node | undefined, path: Path = []): Iterable<Reference> {
  if (node.type === 'list') {
    for (const [index, item] of node.items.entries()) yield* referencesIn(item, paramKind, [...path, index])
  }
  if (node.type !== 'map') return
  const own = at(node, ['paramKind']) ?? paramKind
  for (const [key, { value }] of node.fields) {
    const here = [...path, key]
    if (key === 'configMap') yield { path: here, node: value, kind: '/ConfigMap' }
    else if (key === 'paramRef' && own) yield { path: here, node: value, kind: kindIn(own) }
    else yield* referencesIn(value, own, here)
  }
}

const kindIn = (node: Node) => `${groupOf(stringAt(node, ['apiVersion']) ?? '')}/${stringAt(node, ['kind']) ?? ''}`

/** Whether a reference may mean an object: what it names by an expression may be any name. */
function isNamed(object: KubeObject, reference: Node): boolean {
  const { namespace, name } = idOf(object)
  const fits = (key: string, text: string) => {
    const written = stringAt(reference, [key]) ?? ''
    return written === '' || matchesWildcard(written.replace(/\{\{.*?\}\}/g, '*'), text)
  }
  const selector = at(reference, ['selector'])
  const read = selector && readLabelSelector(selector)
  if (read && !selects(read, textMapOf(at(object.root, ['metadata', 'labels'])) ?? new Map())) return false
  return fits('name', name) && (namespace === '' || fits('namespace', namespace))
}

/** All of it that an expression may compare with. */
function textOf({ root }: KubeObject): string {
  const fields = root.type === 'map' ? [...root.fields] : []
  return JSON.stringify(
    fields.flatMap(([key, { value }]) => (BESIDES.has(key) ? [] : [[key, canonical(value)]])).sort(),
  )
}

const BESIDES = new Set(['apiVersion', 'kind', 'metadata', 'status'])
