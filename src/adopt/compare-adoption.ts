import type { Fleet, FleetNode } from '../fleet/model/fleet.ts'
import { withField } from '../kube/edit-node.ts'
import { at, canonical, stringAt } from '../kube/node.ts'
import { groupOf, idOf, type KubeObject, type ObjectId } from '../kube/object.ts'

/** What an adoption changes: nothing else may. */
export interface ExpectedChange {
  readonly account: string
  /** Keys of the Kustomizations that get the account. */
  readonly adopted: ReadonlySet<string>
  /** By keyOf: what is new, on the clusters of these Kustomizations. */
  readonly added: ReadonlySet<string>
  /** By keyOf: objects that get the account. */
  readonly edited: ReadonlySet<string>
}

/** An object of a cluster, whatever its version: `apps/Deployment web/nginx`. */
export const keyOf = ({ apiVersion, kind, namespace, name }: ObjectId): string =>
  `${groupOf(apiVersion)}/${kind} ${namespace}/${name}`

const NONE: ReadonlySet<string> = new Set()

/** What differs between two fleets besides an adoption; undefined where nothing does. */
export function unexpectedChange(before: Fleet, after: Fleet, expected: ExpectedChange): string | undefined {
  const now = new Map(after.nodes.map(node => [node.key, node]))
  const old = new Set(before.nodes.map(node => node.key))
  const added = after.nodes.find(node => !old.has(node.key))
  if (added) return `${added.key} would be new`
  const clusters = new Set(before.nodes.filter(({ key }) => expected.adopted.has(key)).map(({ cluster }) => cluster))
  for (const node of before.nodes) {
    const next = now.get(node.key)
    if (!next) return `${node.key} would be gone`
    if (next.error?.message !== node.error?.message) return `${node.key} would fail: ${next.error?.message ?? ''}`
    const account = stringAt(next.kustomization.root, ['spec', 'serviceAccountName'])
    const isAdopted = expected.adopted.has(node.key)
    if (isAdopted && account !== expected.account) return `${node.key} would not get the account`
    const problem = compareObjects(
      node,
      next,
      clusters.has(node.cluster) ? expected : { ...expected, added: NONE, edited: NONE },
    )
    if (problem) return problem
  }
  return [...clusters].map(cluster => missing(after, cluster, expected)).find(problem => problem !== undefined)
}

function compareObjects(
  before: FleetNode,
  after: FleetNode,
  { account, added, edited }: ExpectedChange,
): string | undefined {
  const now = new Map(after.objects.map(object => [keyOf(idOf(object)), object]))
  const old = new Set<string>()
  for (const object of before.objects) {
    const name = keyOf(idOf(object))
    old.add(name)
    const next = now.get(name)
    if (!next) return `${name} would be gone from ${after.key}`
    const wanted = edited.has(name) ? withAccount(object, next, account) : canonical(object.root)
    if (canonical(next.root) !== wanted) return `${name} of ${after.key} would change`
  }
  const stray = [...now.keys()].find(name => !old.has(name) && !added.has(name))
  return stray === undefined ? undefined : `${stray} of ${after.key} would be new`
}

/** The object as it was, with the account. */
function withAccount(object: KubeObject, next: KubeObject, account: string): string {
  const spec = at(object.root, ['spec'])
  const written = at(next.root, ['spec', 'serviceAccountName'])
  if (spec?.type !== 'map' || written?.type !== 'scalar' || written.value !== account) return ''
  return canonical(withField(object.root, 'spec', withField(spec, 'serviceAccountName', written)))
}

function missing(after: Fleet, cluster: string, { added }: ExpectedChange): string | undefined {
  const here = after.nodes.filter(node => node.cluster === cluster)
  const present = new Set(here.flatMap(node => node.objects.map(object => keyOf(idOf(object)))))
  const absent = [...added].find(name => !present.has(name))
  return absent && `${absent} would not be applied on ${cluster}`
}
