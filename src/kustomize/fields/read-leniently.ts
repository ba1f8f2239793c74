import type { Field, MapNode, Node } from '../../kube/node.ts'
import type { Tolerance } from '../model/tolerance.ts'
import { keepReadable } from './keep-readable.ts'
import type { Kustomization } from './kustomization.ts'
import { readKustomization, refuseEmpty } from './read-kustomization.ts'

/** Fields without which no other is read. */
const HEAD = ['apiVersion', 'kind']

/**
 * Reads a kustomization file without the fields, and the entries of fields, that cannot be read. Throws what
 * readKustomization throws where nothing of it can be.
 */
export function readLeniently(
  file: string,
  directory: string,
  documents: readonly Node[],
  tolerance: Tolerance,
  hides: (part: unknown) => string,
): Kustomization {
  const [root, ...others] = documents
  const read = (node: Node) => readKustomization(file, directory, [node])
  if (root?.type !== 'map') return readKustomization(file, directory, documents)
  refuseEmpty(root, file)
  if (others.length > 0) {
    tolerance.attempt({ effect: 'different', hides: () => hides(others) }, () =>
      readKustomization(file, directory, documents),
    )
  }
  const none: Node = { type: 'list', items: [], origin: root.origin }
  const head = [...root.fields].filter(([name]) => HEAD.includes(name))
  // a list of no resources is something, so that a field that says nothing is not called an empty file
  const resources: readonly [string, Field] = ['resources', { key: root.origin, value: none }]
  const always: MapNode = { ...root, fields: new Map([...head, resources]) }
  read(always)
  const kept = keepReadable(root, always, { read, tolerance, hides })
  return read(kept.fields.has('resources') ? kept : { ...kept, fields: new Map([...kept.fields, resources]) })
}
