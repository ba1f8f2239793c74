import type { FleetIndex } from '../../facts/fleet-index.ts'
import { identityPart, objectPart } from '../../facts/shown.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { isMisplacedClusterKind } from '../../kube/scope/scope.ts'
import { message } from '../../message/message.ts'
import { serverAnswer } from '../model/api-refusal.ts'
import type { Rule, Violation } from '../model/rule.ts'

/** Objects that belong to the whole cluster are the platform's, whatever namespace a tenant writes into them. */
export const clusterScopedForbidden: Rule = {
  id: 'cluster-scoped-forbidden',
  severity: 'critical',
  title: 'Cluster-scoped object in tenant content',
  why: 'A ClusterRoleBinding, a webhook configuration, a PriorityClass or a CustomResourceDefinition changes the cluster for all tenants. Kubernetes ignores `metadata.namespace` of a cluster-scoped object.',
  docs: 'Ask a fleet admin to add the object to the fleet repository.',
  kinds: 'every',
  *checkTenantObject({ object, node }, { index }) {
    const violation = evaluateFleet(index, node, object)
    if (violation) yield violation
  },
}

function evaluateFleet(index: FleetIndex, node: FleetNode, object: KubeObject): Violation | undefined {
  const id = idOf(object)
  const { apiVersion, kind, name } = id
  const scope = index.scopeOf(node.cluster, apiVersion, kind)
  if (scope !== 'Cluster' && (scope !== undefined || !isMisplacedClusterKind(apiVersion, kind))) return undefined
  // Whose a Namespace is, and who may write it, is the rule namespace-ownership's.
  if (kind === 'Namespace' && groupOf(apiVersion) === '') return undefined
  return {
    node,
    object,
    path: ['kind'],
    value: kind,
    isMalformed: true,
    message: message`${objectPart(kind, '', name)} is cluster-scoped, but ${identityPart(node.identity)} applies it for a tenant. Allowed: objects in the tenant's namespaces.${serverAnswer(index, node, object)}`,
    fix: message`Remove ${objectPart(kind, '', name)} from this repository, or ask a fleet admin to add it to the fleet repository.`,
  }
}
