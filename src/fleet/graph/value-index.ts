import { BailiwickError } from '../../errors.ts'
import type { VariableSource } from '../../flux/substitute/variable.ts'
import { type SourceKind, variablesOf } from '../../flux/substitute/variable-source.ts'
import { canonical, type MapNode, type Node } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import type { ClusterValues, NodeValues } from '../model/cluster-values.ts'
import type { FleetConfig } from '../model/fleet-config.ts'
import { nodeKey } from '../model/node-key.ts'

/** What the fleet's file says about values. */
type ValueConfig = Pick<FleetConfig, 'substituteFrom' | 'forbidUndeclaredValues'>

/** What `substituteFrom` of a cluster can find: what was rendered so far, and what the fleet declares. */
export class ValueIndex {
  readonly #objects = new Map<string, KubeObject>()
  readonly #contested = new Set<string>()
  readonly #declared = new Map<string, VariableSource>()
  readonly #presumed = new Set<string>()
  readonly #rendered = new Set<string>()
  readonly #cluster: string
  readonly #read: ClusterValues | undefined

  /** Whether what neither the fleet renders nor its file declares has unknown values; else it is missing. */
  readonly allowsUndeclared: boolean

  /** `presumed`: objects of which it is assumed that they will be added, too. `read`: what was read on the cluster. */
  constructor(
    cluster: string,
    { substituteFrom: declarations, forbidUndeclaredValues }: ValueConfig,
    presumed: readonly KubeObject[] = [],
    read?: ClusterValues,
  ) {
    this.#cluster = cluster
    this.#read = read
    this.allowsUndeclared = !forbidUndeclaredValues
    // what is declared for one cluster wins over what is declared for all
    const general = declarations.filter(one => one.cluster === undefined)
    for (const one of [...general, ...declarations.filter(each => each.cluster === cluster)]) {
      this.#declared.set(valueId(one.kind, one.namespace, one.name), one.source)
    }
    for (const object of presumed) {
      const id = this.#keep(object)
      if (id !== undefined) this.#presumed.add(id)
    }
  }

  /** The id of an object that gives values, once it is known; undefined for any other object. */
  add(object: KubeObject): string | undefined {
    const id = this.#keep(object)
    if (id !== undefined) this.#rendered.add(id)
    return id
  }

  #keep(object: KubeObject): string | undefined {
    const { apiVersion, kind, namespace, name } = idOf(object)
    if ((kind !== 'ConfigMap' && kind !== 'Secret') || groupOf(apiVersion) !== '') return undefined
    const id = valueId(kind, namespace, name)
    const known = this.#objects.get(id)
    if (!known) this.#objects.set(id, object)
    else if (valuesIn(known.root) !== valuesIn(object.root)) this.#contested.add(id)
    return id
  }

  /** The same of one whose data is copied on the cluster. */
  addCopied(object: KubeObject): string | undefined {
    const id = this.add(object)
    if (id === undefined || this.#declared.has(id)) return id
    const { kind, namespace, name } = idOf(object)
    const holders = [{ kind: kind === 'Secret' ? kind : 'ConfigMap', namespace, name, key: '' }] as const
    const rest = { value: '', origin: object.root.origin, hidden: 'opaque', holders } as const
    this.#objects.delete(id)
    this.#declared.set(id, { variables: new Map(), rest })
    return id
  }

  has(id: string): boolean {
    return this.#objects.has(id) || this.#declared.has(id)
  }

  isPresumed(id: string): boolean {
    return this.#presumed.has(id)
  }

  /** Whether only the assumption says that it is there. */
  isUnfounded(id: string): boolean {
    return this.#presumed.has(id) && !this.#rendered.has(id)
  }

  /** Whether more than one place says what the values are, and they may differ. */
  isContested(id: string): boolean {
    return this.#contested.has(id) || (this.#objects.has(id) && this.#declared.has(id))
  }

  /** Whether git does not say all that it holds on the cluster. */
  isOfCluster(id: string): boolean {
    const object = this.#objects.get(id)
    if (!object || this.#declared.has(id)) return true
    try {
      return [...variablesOf(object.root).values()].some(({ hidden }) => hidden === 'opaque')
    } catch (error) {
      if (error instanceof BailiwickError) return false
      throw error
    }
  }

  /** What was read on the cluster for a Kustomization. */
  readFor(kustomization: KubeObject): NodeValues | undefined {
    return this.#read?.nodes.get(nodeKey(this.#cluster, idOf(kustomization)))
  }

  /** The values; throws `flux-invalid` for an object that the API server refuses. */
  find(id: string): VariableSource | undefined {
    const object = this.#objects.get(id)
    return object ? { variables: variablesOf(object.root) } : this.#declared.get(id)
  }

  /** All that is known about the values, as text: another text may mean another rendering. */
  describe(id: string): string {
    const object = this.#objects.get(id)
    const declared = this.#declared.get(id)
    const values = [...(declared?.variables ?? [])].map(([name, { value, hidden }]) => [name, value, hidden ?? ''])
    return JSON.stringify([id, object ? described(object.root) : '', values, declared?.rest !== undefined])
  }
}

/** An unknown value and a text that looks like its variable are the same only to a reader. */
const described = (root: Node): string => JSON.stringify([canonical(root), holdersIn(root)])

/** All of an object but its labels and annotations, which say nothing of its values. */
function valuesIn(root: MapNode): string {
  const fields = [...root.fields].filter(([name]) => name !== 'metadata')
  return described({ ...root, fields: new Map(fields) })
}

function holdersIn(node: Node): unknown[] {
  if (node.type === 'scalar') return node.opaque ? [node.opaque] : []
  const below = node.type === 'list' ? node.items : [...node.fields.values()].map(field => field.value)
  // with the place of each: the texts alone may be those of others
  return below.flatMap((one, index) => holdersIn(one).map(held => [index, held]))
}

/** `<Kind>/<namespace>/<name>`. */
export const valueId = (kind: SourceKind, namespace: string, name: string): string => `${kind}/${namespace}/${name}`
