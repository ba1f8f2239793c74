import { type FleetIndex, kindOf } from '../../../facts/fleet-index.ts'
import { keysOf } from '../../../facts/object-table.ts'
import { objectPart, quoted } from '../../../facts/shown.ts'
import type { FleetNode } from '../../../fleet/model/fleet.ts'
import { stringAt } from '../../../kube/node.ts'
import { idOf, type KubeObject } from '../../../kube/object.ts'
import { codeWord, message } from '../../../message/message.ts'
import type { Breach } from '../../model/rule.ts'
import { isKept } from './deleted-objects.ts'

const DEFINITION = 'apiextensions.k8s.io/CustomResourceDefinition'

/**
 * CustomResourceDefinitions that Flux would delete although objects of their kind stay. `was`: the node that rendered them;
 * `node`: the one that is still there and prunes.
 */
export function* removedDefinitions(
  was: FleetNode,
  node: FleetNode,
  before: FleetIndex,
  index: FleetIndex,
): Iterable<Breach> {
  for (const object of before.objectsOf(was.key)) {
    if (kindOf(object) !== DEFINITION || isKept(object) || isRendered(object, node.cluster, index)) continue
    const kind = `${stringAt(object.root, ['spec', 'group'])}/${stringAt(object.root, ['spec', 'names', 'kind'])}`
    // another definition of the kind is not the one that stores its objects, but keeps it known
    if (index.definitionsOf(node.cluster, kind).length > 0) continue
    const left = index.renderedAnywhere(node.cluster, kind)
    const [first] = left
    if (first === undefined) continue
    const { namespace, name } = idOf(first.object)
    const tenants = [...new Set(left.flatMap(one => one.node.tenant ?? []))].sort()
    yield {
      node,
      object,
      path: ['metadata', 'name'],
      origin: node.kustomization.root.origin,
      value: 'removed',
      message: message`${objectPart('CustomResourceDefinition', '', idOf(object).name)} is removed, so Kubernetes would delete all objects of its kind${tenants.length > 0 ? message`, of ${tenants.length === 1 ? 'tenant' : 'tenants'} ${quoted('tenant', tenants.join(', '))} too` : ''}. The API server would then refuse the ${left.length} that ${left.length === 1 ? 'is' : 'are'} still rendered, such as ${objectPart(idOf(first.object).kind, namespace, name)}. Allowed: a change that keeps it.`,
      fix: message`Restore the CustomResourceDefinition. If a chart installs it from now on, add the annotation ${codeWord('kustomize.toolkit.fluxcd.io/prune: disabled')} in an earlier change.`,
    }
  }
}

function isRendered(object: KubeObject, cluster: string, index: FleetIndex): boolean {
  const [kind = '', namespace = '', name = ''] = keysOf(object)[2]?.split('\0') ?? []
  return index.versionsOf(cluster, kind, namespace, name).length > 0
}
