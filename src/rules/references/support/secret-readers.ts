import type { FleetIndex } from '../../../facts/fleet-index.ts'
import type { Naming } from '../../../facts/naming.ts'
import type { Rendered } from '../../../facts/object-table.ts'
import { shownObject } from '../../../facts/shown.ts'
import { namesReadBy, readingKinds } from '../../../kube/capabilities/secret-names.ts'
import { at, type Node, stringAt } from '../../../kube/node.ts'

type Read = 'Secret' | 'ConfigMap'

const textOf = (kind: string, name: string) => `${kind} ${name}`

/** What an object of the platform reads; a name in a reference counts also where the table has no place for it. */
const PLATFORM: Naming = {
  id: 'platform reads',
  of: ({ node, object }) =>
    node.tenant === undefined
      ? [...namesReadBy(object).map(one => textOf(one.kind, one.name)), ...namesIn(at(object.root, ['spec']))]
      : [],
}
/** Every use of a Secret that is not decryption. */
const USED: Naming = {
  id: 'uses secret',
  of: ({ object }) =>
    namesReadBy(object).flatMap(one => (one.kind === 'Secret' && !one.decrypts ? [textOf('Secret', one.name)] : [])),
}

/** The objects of the platform that read a Secret or ConfigMap of a namespace. */
export function platformReaders(index: FleetIndex, cluster: string, namespace: string, kind: Read, name: string) {
  return readersBy(index, cluster, namespace, PLATFORM, textOf(kind, name))
}

/** What else a Secret is used for: `GitRepository dev-team`; undefined where nothing in its namespace names it. */
export function otherUse(index: FleetIndex, cluster: string, namespace: string, name: string): string | undefined {
  const [first] = readersBy(index, cluster, namespace, USED, textOf('Secret', name))
  return first && readerName(first)
}

/** Whoever reads something, for a message: `GitRepository dev-team`. */
export function readerName({ object }: Rendered): string {
  return shownObject(stringAt(object.root, ['kind']) ?? '', '', stringAt(object.root, ['metadata', 'name']) ?? '')
}

function readersBy(index: FleetIndex, cluster: string, namespace: string, naming: Naming, text: string): Rendered[] {
  return readingKinds.flatMap(kind => index.found(cluster, kind, namespace, naming, text))
}

/** `secretRef: {name}`, `configMapRef: {name}`, or `{kind, name}` of values. */
function* namesIn(node: Node | undefined): Generator<string> {
  if (!node || node.type === 'scalar') return
  if (node.type === 'list') {
    for (const item of node.items) yield* namesIn(item)
    return
  }
  const [kind, name] = [stringAt(node, ['kind']), stringAt(node, ['name'])]
  if (kind !== undefined && name !== undefined) yield textOf(kind, name)
  for (const [key, { value }] of node.fields) {
    const field = key.toLowerCase()
    const referred = stringAt(value, ['name'])
    for (const one of ['Secret', 'ConfigMap']) {
      if (referred !== undefined && field.endsWith(`${one.toLowerCase()}ref`)) yield textOf(one, referred)
    }
    yield* namesIn(value)
  }
}
