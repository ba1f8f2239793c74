import type { FleetNode } from '../fleet/fleet.ts'
import { groupOf, idOf, type KubeObject } from '../kube/object.ts'

/** An object, and the node that renders it. */
export interface Rendered {
  readonly node: FleetNode
  readonly object: KubeObject
}

const NONE: readonly Rendered[] = []

/** What the nodes of one cluster render, by kind, namespace and name. */
export class ObjectTable {
  readonly #kinds = new Map<string, Rendered[]>()
  readonly #namespaces = new Map<string, Rendered[]>()
  readonly #names = new Map<string, Rendered[]>()

  constructor(nodes: Iterable<FleetNode>) {
    for (const node of nodes) for (const object of node.objects) this.#add({ node, object })
  }

  /** In the order of the nodes. */
  ofKind(kind: string): readonly Rendered[] {
    return this.#kinds.get(kind) ?? NONE
  }

  inNamespace(kind: string, namespace: string): readonly Rendered[] {
    return this.#namespaces.get(`${kind}\0${namespace}`) ?? NONE
  }

  named(kind: string, namespace: string, name: string): readonly Rendered[] {
    return this.#names.get(`${kind}\0${namespace}\0${name}`) ?? NONE
  }

  #add(rendered: Rendered): void {
    const { apiVersion, kind, namespace, name } = idOf(rendered.object)
    const full = `${groupOf(apiVersion)}/${kind}`
    push(this.#kinds, full, rendered)
    push(this.#namespaces, `${full}\0${namespace}`, rendered)
    push(this.#names, `${full}\0${namespace}\0${name}`, rendered)
  }
}

function push(map: Map<string, Rendered[]>, key: string, value: Rendered): void {
  const list = map.get(key)
  if (list) list.push(value)
  else map.set(key, [value])
}
