import { apiVersionOf, KUSTOMIZATION } from '../../flux/kinds.ts'
import type { Tree } from '../../git/tree.ts'
import type { Field, MapNode, Node, ScalarValue } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import type { Origin } from '../../origin.ts'

type Plain = ScalarValue | readonly Plain[] | { readonly [key: string]: Plain }

/** A node of plain values that all point at one place. */
export function nodeOf(value: Plain, origin: Origin): Node {
  if (Array.isArray(value)) return { type: 'list', items: value.map(item => nodeOf(item, origin)), origin }
  if (typeof value !== 'object' || value === null) return { type: 'scalar', value: value as ScalarValue, origin }
  const fields = new Map<string, Field>()
  for (const [key, item] of Object.entries(value)) fields.set(key, { key: origin, value: nodeOf(item, origin) })
  return { type: 'map', fields, origin }
}

/** The Kustomization that `flux bootstrap` makes for a cluster, where the fleet does not hold it. */
export function bootstrapKustomization(path: string, repository: string, tree: Tree): KubeObject {
  const candidates = ['flux-system/gotk-sync.yaml', 'flux-system/kustomization.yaml', 'kustomization.yaml']
  const first = tree.list(path).find(entry => entry.type === 'file')?.name
  const at = (name: string) => (path === '' ? name : `${path}/${name}`)
  const file = [...candidates, first ?? ''].find(name => tree.entry(at(name))?.type === 'file')
  const root = nodeOf(
    {
      apiVersion: apiVersionOf(KUSTOMIZATION),
      kind: 'Kustomization',
      metadata: { name: 'flux-system', namespace: 'flux-system' },
      spec: { path: `./${path}`, prune: true, sourceRef: { kind: 'GitRepository', name: 'flux-system' } },
    },
    { repository, file: file === undefined ? path : at(file), line: 1, column: 1 },
  )
  return { root: root as MapNode, trail: [] }
}
