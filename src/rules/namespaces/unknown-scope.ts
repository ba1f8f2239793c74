import { shown, shownIdentity, shownObject } from '../../facts/shown.ts'
import { groupOf } from '../../kube/object.ts'
import { isMisplacedClusterKind, misspelled } from '../../kube/scope/scope.ts'
import type { Rule } from '../model/rule.ts'

/** A kind that nobody declares may belong to the whole cluster. */
export const unknownScope: Rule = {
  id: 'unknown-scope',
  severity: 'high',
  title: "Tenants' objects are of kinds that somebody declares",
  why: 'Whether an object of an unknown kind stays in its namespace or belongs to the whole cluster cannot be told; `metadata.namespace` of a cluster-scoped object means nothing.',
  docs: 'Let the fleet render the CustomResourceDefinition of the kind, name the kind with its scope under `kinds` of .github/bailiwick.yaml, or correct apiVersion and kind. Where no ClusterRoleBinding lets the account create objects of the group, it is a warning: the API server refuses what belongs to the whole cluster. Roles that are aggregated or not rendered, and RBAC that could not be evaluated, count as letting it.',
  kinds: 'every',
  *checkTenantObject({ object, id, node }, { index }) {
    const { apiVersion, kind, namespace, name } = id
    if (apiVersion === '' || kind === '' || name === '') return
    if (index.scopeOf(node.cluster, apiVersion, kind) !== undefined) return
    // Another spelling of a known kind is no unknown kind: the rule invalid-object says so.
    if (misspelled(apiVersion, kind) !== undefined) return
    // and of a kind in a group of Kubernetes that is not its own the rule cluster-scoped-forbidden speaks
    if (isMisplacedClusterKind(apiVersion, kind)) return
    const who = shownObject(kind, namespace, name)
    const place = { node, object, path: ['kind'], value: `${apiVersion} ${kind}` }
    const fix =
      'Let the fleet render its CustomResourceDefinition or name it under `kinds` of .github/bailiwick.yaml, or correct apiVersion and kind.'
    const reach = index.clusterWide(node, groupOf(apiVersion))
    if (reach === undefined) {
      const message = `${who} is of a kind of unknown scope (${shown(apiVersion)}). If the kind is cluster-scoped, the API server refuses the object: no ClusterRoleBinding lets ${shownIdentity(node.identity)} create it.`
      yield { ...place, message, fix, level: 'warning' }
      return
    }
    const message = `${who} is of a kind of unknown scope (${shown(apiVersion)}). If the kind is cluster-scoped, the account could create it, because ${reach}. Allowed are kinds of Kubernetes, of well-known projects, of definitions that the platform renders, and of \`kinds\` of .github/bailiwick.yaml.`
    yield { ...place, message, fix }
  },
}
