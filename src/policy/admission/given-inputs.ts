import type { Json } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'

/** An HTTP response that a test gives. */
interface GivenResponse {
  readonly status: number
  readonly body: Json
}

/** What a policy test gives in place of a cluster, the network and registries. Its objects are complete as written. */
export interface GivenInputs {
  /** Values of the names in a policy's expressions, by dotted path. */
  valuesFor(policy: string, object: string): ReadonlyMap<string, Json>
  /** Further values for one rule of a policy; a rule that Kyverno generates for Pod controllers has the values of its origin. */
  ruleValues(policy: string, rule: string): ReadonlyMap<string, Json>
  /** The objects that `resource.Get` and `resource.List` of CEL read. */
  readonly resources: readonly KubeObject[]
  /** The plural of a kind, as in a URL. */
  resourceOf(apiVersion: string, kind: string): string
  /** The objects that API calls and ConfigMaps of a context read; undefined: the test has no cluster. */
  readonly cluster: readonly KubeObject[] | undefined
  response(method: string, url: string): GivenResponse | undefined
  /** The content of a GlobalContextEntry, by its projections where it has some. */
  globalContext(name: string): Json | undefined
  /** Metadata of an image. */
  image(reference: string): Json | undefined
}
