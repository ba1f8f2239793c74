import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { kindOf } from '../../../facts/kind-of.ts'
import { objectPart, quoted } from '../../../facts/shown.ts'
import { componentsOf } from '../../../fleet/bootstrap/flux-instance.ts'
import type { FleetNode } from '../../../fleet/model/fleet.ts'
import { FLUX_INSTANCE, fluxKind } from '../../../flux/kinds.ts'
import { stringAt } from '../../../kube/node.ts'
import { idOf, type KubeObject } from '../../../kube/object.ts'
import { codeWord, message } from '../../../message/message.ts'
import type { Violation } from '../../model/rule.ts'

const DEFINITION = 'apiextensions.k8s.io/CustomResourceDefinition'

/** CustomResourceDefinitions among what Flux would delete although objects of their kind stay. `node`: the one that prunes. */
export function* removedDefinitions(
  gone: readonly KubeObject[],
  node: FleetNode,
  index: FleetIndex,
): Iterable<Violation> {
  for (const object of gone) {
    if (kindOf(object) !== DEFINITION) continue
    const kind = `${stringAt(object.root, ['spec', 'group'])}/${stringAt(object.root, ['spec', 'names', 'kind'])}`
    // another definition of the kind is not the one that stores its objects, but keeps it known
    if (index.definitionsOf(node.cluster, kind).length > 0 || isOfOperator(kind, node, index)) continue
    const left = index.renderedAnywhere(node.cluster, kind)
    const [first] = left
    if (first === undefined) continue
    const { namespace, name } = idOf(first.object)
    const tenants = [...new Set(left.flatMap(one => one.node.tenant ?? []))].sort()
    yield {
      node,
      object,
      path: ['metadata', 'name'],
      isBefore: true,
      value: 'removed',
      message: message`${objectPart('CustomResourceDefinition', '', idOf(object).name)} is removed, so Kubernetes would delete all objects of its kind${tenants.length > 0 ? message`, of ${tenants.length === 1 ? 'tenant' : 'tenants'} ${quoted('tenant', tenants.join(', '))} too` : ''}. The API server would then refuse the ${left.length} that ${left.length === 1 ? 'is' : 'are'} still rendered, such as ${objectPart(idOf(first.object).kind, namespace, name)}. Allowed: a change that keeps it.`,
      fix: message`Restore the CustomResourceDefinition. If a chart installs it from now on, add the annotation ${codeWord('kustomize.toolkit.fluxcd.io/prune: disabled')} in an earlier change.`,
    }
  }
}

/** Whether the Flux Operator installs the definition by a FluxInstance: it takes over what Flux applied of itself before. */
function isOfOperator(kind: string, { cluster }: FleetNode, index: FleetIndex): boolean {
  if (!fluxKind(kind)?.served) return false
  return index.platformAnywhere(cluster, FLUX_INSTANCE).some(({ object }) => {
    return componentsOf(object).some(name => name.startsWith(`${kind.slice(0, kind.indexOf('.'))}-`))
  })
}
