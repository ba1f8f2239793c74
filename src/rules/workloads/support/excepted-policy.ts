import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { at, stringAt } from '../../../kube/node.ts'
import { idOf, type KubeObject } from '../../../kube/object.ts'
import { matchesWildcard } from '../../../policy/kyverno/jmespath/wildcard.ts'

/** Policy kinds that a PolicyException can name. */
const POLICIES = [
  'kyverno.io/ClusterPolicy',
  'kyverno.io/Policy',
  'policies.kyverno.io/ValidatingPolicy',
  'policies.kyverno.io/NamespacedValidatingPolicy',
  'policies.kyverno.io/ImageValidatingPolicy',
  'policies.kyverno.io/NamespacedImageValidatingPolicy',
  'policies.kyverno.io/MutatingPolicy',
  'policies.kyverno.io/NamespacedMutatingPolicy',
  'policies.kyverno.io/GeneratingPolicy',
  'policies.kyverno.io/NamespacedGeneratingPolicy',
  'policies.kyverno.io/DeletingPolicy',
  'policies.kyverno.io/NamespacedDeletingPolicy',
]

/** The first policy that the platform renders on a cluster and that a PolicyException names, also by wildcard. */
export function exceptedPolicy(index: FleetIndex, cluster: string, exception: KubeObject): KubeObject | undefined {
  const patterns = namesIn(exception)
  if (patterns.length === 0) return undefined
  for (const kind of POLICIES) {
    for (const { object } of index.platformAnywhere(cluster, kind)) {
      const { namespace, name } = idOf(object)
      const names = namespace === '' ? [name] : [name, `${namespace}/${name}`]
      if (patterns.some(pattern => names.some(one => matchesWildcard(pattern, one)))) return object
    }
  }
  return undefined
}

/** `spec.exceptions` of kyverno.io, `spec.policyRefs` of policies.kyverno.io. */
function namesIn({ root }: KubeObject): string[] {
  return [
    ['exceptions', 'policyName'],
    ['policyRefs', 'name'],
  ].flatMap(([list, field]) => {
    const items = at(root, ['spec', list!])
    return items?.type === 'list' ? items.items.flatMap(item => stringAt(item, [field!]) ?? []) : []
  })
}
