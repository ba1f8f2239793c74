import type { FleetIndex } from '../../../facts/fleet-index.ts'
import type { Rendered } from '../../../facts/object-table.ts'
import { canonical, stringAt } from '../../../kube/node.ts'
import { groupOf } from '../../../kube/object.ts'
import { worldOf } from '../../../policy/admission/admission-world.ts'
import { EXCEPTION_KINDS, exceptionSettings } from '../../../policy/kyverno/exception-settings.ts'
import { policyEngines } from '../../../policy/registry/policy-engines.ts'

/** Whose change alters what policies say: the platform's policies, or only objects of tenants that the policies read. */
export type PolicyChange = 'platform' | 'tenant'

/** Whether the policies of a cluster, or objects that they read, differ between two fleets; undefined if they do not. */
export function policyChange(before: FleetIndex, index: FleetIndex, cluster: string): PolicyChange | undefined {
  const own = policyEngines.flatMap(({ kinds, companions }) => [...kinds, ...companions])
  const isOther = own.some(kind =>
    differs(before.platformAnywhere(cluster, kind), index.platformAnywhere(cluster, kind)),
  )
  if (isOther || areExceptionsReadOtherwise(before, index, cluster)) return 'platform'
  // ConfigMaps are parameters and contexts, labels of Namespaces decide what is selected
  const read = new Set(['/Namespace', '/ConfigMap', ...parameterKinds(before, cluster)])
  const changed = [...read].flatMap(kind =>
    changedIn(before.renderedAnywhere(cluster, kind), index.renderedAnywhere(cluster, kind)),
  )
  if (changed.length === 0) return undefined
  return changed.some(({ node }) => node.tenant === undefined) ? 'platform' : 'tenant'
}

/** Whether Kyverno's flags for exceptions change, where the fleet has exceptions. */
function areExceptionsReadOtherwise(before: FleetIndex, index: FleetIndex, cluster: string): boolean {
  if (EXCEPTION_KINDS.every(kind => index.platformAnywhere(cluster, kind).length === 0)) return false
  const [was, is] = [before, index].map(one => exceptionSettings(worldOf(one, cluster)))
  return was?.isEnabled !== is?.isEnabled || was?.namespace !== is?.namespace
}

function parameterKinds(index: FleetIndex, cluster: string): string[] {
  return index
    .platformAnywhere(cluster, 'admissionregistration.k8s.io/ValidatingAdmissionPolicy')
    .flatMap(({ object: { root } }) => {
      const kind = stringAt(root, ['spec', 'paramKind', 'kind'])
      return kind ? [`${groupOf(stringAt(root, ['spec', 'paramKind', 'apiVersion']) ?? '')}/${kind}`] : []
    })
}

type Objects = readonly Rendered[]

/** Asked for every object of a cluster: lists that are kept are compared once. */
const compared = new WeakMap<Objects, WeakMap<Objects, readonly Rendered[]>>()

const differs = (was: Objects, is: Objects) => changedIn(was, is).length > 0

/** The objects of either list that the other does not hold as they are. */
function changedIn(was: Objects, is: Objects): readonly Rendered[] {
  if (was === is) return []
  const known = compared.get(was)?.get(is)
  if (known) return known
  const made = [...missing(was, is), ...missing(is, was)]
  compared.set(was, (compared.get(was) ?? new WeakMap<Objects, readonly Rendered[]>()).set(is, made))
  return made
}

function missing(from: Objects, others: Objects): Rendered[] {
  const roots = new Set(others.map(({ object }) => object.root))
  const open = from.filter(({ object }) => !roots.has(object.root))
  if (open.length === 0) return []
  const texts = new Set(others.map(({ object }) => canonical(object.root)))
  return open.filter(({ object }) => !texts.has(canonical(object.root)))
}
