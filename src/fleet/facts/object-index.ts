import type { Scope } from '../../kube/capabilities/capability.ts'
import { customScopes, scopeOf } from '../../kube/capabilities/scope.ts'
import { stringAt } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import type { CustomKinds } from '../../kube/rbac/apply-requests.ts'
import type { Authorizer } from '../../kube/rbac/authorizer.ts'
import { customPlurals } from '../../kube/rbac/resources.ts'
import type { Aliases } from '../model/fleet-config.ts'
import type { ChartPart } from '../sources/charts.ts'
import type { ClusterFacts, Facts } from './facts.ts'
import { byText, type Naming, type NamingOfKinds, type Rendered } from './object-table.ts'

const NONE: readonly Rendered[] = []
const NO_OBJECTS: readonly KubeObject[] = []
const DEFINITION = 'apiextensions.k8s.io/CustomResourceDefinition'

/** Finds objects of a fleet. Kinds are `<group>/<Kind>`; lists are in the order of the nodes. */
export class ObjectIndex {
  readonly #facts: Facts

  constructor(facts: Facts) {
    this.#facts = facts
  }

  /** Objects of a kind in a namespace of a cluster, of every node, in the order of the nodes; '' for none. */
  rendered(cluster: string, kind: string, namespace: string): readonly Rendered[] {
    return this.#facts.rendered(cluster, `${kind}\0${namespace}`)
  }

  /** Objects of a kind in any namespace of a cluster: ask for one namespace where that is enough. */
  renderedAnywhere(cluster: string, kind: string): readonly Rendered[] {
    return this.#facts.rendered(cluster, kind)
  }

  /**
   * Those of them by which a naming finds a text, in the same order. One walk over the objects, however many ask: a loop
   * over `rendered` in a check of each object is quadratic in what one tenant writes.
   */
  found(cluster: string, kind: string, namespace: string, naming: Naming, text: string): readonly Rendered[] {
    return this.#named(cluster, `${kind}\0${namespace}`, naming).get(text) ?? NONE
  }

  /** Every text by which a naming finds objects of its kinds in a namespace. */
  textsOf(cluster: string, namespace: string, naming: NamingOfKinds): ReadonlySet<string> {
    return this.#facts.memo(`texts ${naming.id} ${cluster}\0${namespace}`, () => {
      const maps = naming.kinds.map(kind => this.#named(cluster, `${kind}\0${namespace}`, naming))
      return new Set(maps.flatMap(one => [...one.keys()]))
    })
  }

  /** What `found` gives for a kind in any namespace. */
  foundAnywhere(cluster: string, kind: string, naming: Naming, text: string): readonly Rendered[] {
    return this.#named(cluster, kind, naming).get(text) ?? NONE
  }

  #named(cluster: string, key: string, naming: Naming): ReadonlyMap<string, readonly Rendered[]> {
    return this.#facts.memo(`named ${naming.id} ${cluster}\0${key}`, () =>
      byText(this.#facts.rendered(cluster, key), naming),
    )
  }

  /** Objects of a kind in a namespace that the platform renders. */
  platformRendered(cluster: string, kind: string, namespace: string): readonly Rendered[] {
    return this.#facts.platform(cluster, `${kind}\0${namespace}`)
  }

  /** Whether the platform renders an object of one of these kinds. */
  platformHas(cluster: string, kinds: readonly string[]): boolean {
    return kinds.some(kind => this.#facts.platform(cluster, kind).length > 0)
  }

  /** Objects of a kind that the platform renders in any namespace. */
  platformAnywhere(cluster: string, kind: string): readonly Rendered[] {
    return this.#facts.platform(cluster, kind)
  }

  /** Every node's version of one object. */
  versionsOf(cluster: string, kind: string, namespace: string, name: string): readonly Rendered[] {
    return this.#facts.rendered(cluster, `${kind}\0${namespace}\0${name}`)
  }

  /** The object as the platform renders it on a cluster, the last one where there are several. */
  platformObject(cluster: string, kind: string, namespace: string, name: string): KubeObject | undefined {
    return this.#facts.platform(cluster, `${kind}\0${namespace}\0${name}`).at(-1)?.object
  }

  /** The CustomResourceDefinitions of a kind (`<group>/<Kind>`) that the platform renders; a tenant's do not count. */
  definitionsOf(cluster: string, kind: string): readonly KubeObject[] {
    const definitions = this.#facts.memo(`definitions ${cluster}`, () => {
      const all = new Map<string, KubeObject[]>()
      for (const { object } of this.platformAnywhere(cluster, DEFINITION)) {
        const key = `${stringAt(object.root, ['spec', 'group'])}/${stringAt(object.root, ['spec', 'names', 'kind'])}`
        const same = all.get(key)
        if (same) same.push(object)
        else all.set(key, [object])
      }
      return all
    })
    return definitions.get(kind) ?? NO_OBJECTS
  }

  /** Scopes and plurals of custom kinds; only the platform may define kinds, or a tenant could exempt itself. */
  customKinds(cluster: string): CustomKinds {
    return this.#facts.memo(`custom kinds ${cluster}`, () => {
      const definitions = this.platformAnywhere(cluster, DEFINITION).map(({ object }) => object)
      const declared = this.#facts.declaredKinds().map(one => [`${one.group}/${one.kind}`, one.scope] as const)
      return { scopes: new Map([...declared, ...customScopes(definitions)]), plurals: customPlurals(definitions) }
    })
  }

  /** Whether objects of a kind live in namespaces. */
  scopeOf(cluster: string, apiVersion: string, kind: string): Scope | undefined {
    return scopeOf(apiVersion, kind, this.customKinds(cluster).scopes)
  }
}

/** What is rendered of a kind on one cluster. */
export const objectsOn = (index: ObjectIndex, cluster: string) => ({
  rendered: (kind: string) => index.renderedAnywhere(cluster, kind),
  platform: (kind: string) => index.platformAnywhere(cluster, kind),
})

export const isPlatform = ({ node }: Rendered): boolean => node.tenant === undefined

/** What the parts of the index of a fleet ask of the whole: see FleetIndex, which answers. */
export interface FleetAnswers extends ObjectIndex {
  aliases(): Aliases
  cluster(name: string): ClusterFacts | undefined
  clusters(): readonly string[]
  ownerOf(cluster: string, namespace: string): string | undefined
  namespacesOf(cluster: string, tenant: string): readonly string[]
  capsuleHomes(cluster: string): ReadonlyMap<string, readonly string[]>
  authorizer(cluster: string): Authorizer
  chartParts(node: string, release: KubeObject): readonly ChartPart[] | 'too-much' | undefined
}
