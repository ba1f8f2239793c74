import { isMisplacedClusterKind, misspelled } from '../../kube/scope.ts'
import type { Rule } from '../rule.ts'
import { shown, shownObject } from '../shown.ts'

/** A kind that nobody declares may belong to the whole cluster. */
export const unknownScope: Rule = {
  id: 'unknown-scope',
  severity: 'high',
  title: "Tenants' objects are of kinds that somebody declares",
  why: 'Whether an object of an unknown kind stays in its namespace or belongs to the whole cluster cannot be told; `metadata.namespace` of a cluster-scoped object means nothing.',
  docs: 'Let the fleet render the CustomResourceDefinition of the kind, or correct apiVersion and kind.',
  kinds: 'every',
  *checkTenantObject({ object, id, node }, { index }) {
    const { apiVersion, kind, namespace, name } = id
    if (apiVersion === '' || kind === '' || name === '') return
    if (index.scopeOf(node.cluster, apiVersion, kind) !== undefined) return
    // Another spelling of a known kind is no unknown kind: the rule invalid-object says so.
    if (misspelled(apiVersion, kind) !== undefined) return
    // and of a kind in a group of Kubernetes that is not its own the rule cluster-scoped-forbidden speaks
    if (isMisplacedClusterKind(apiVersion, kind)) return
    yield {
      node,
      object,
      path: ['kind'],
      value: `${apiVersion} ${kind}`,
      message: `${shownObject(kind, namespace, name)} is of a kind that nobody declares (${shown(apiVersion)}): whether it stays in its namespace cannot be decided. Allowed are kinds of Kubernetes, of well-known projects, and of definitions that the platform renders.`,
      fix: 'Let the fleet render its CustomResourceDefinition, or correct apiVersion and kind.',
    }
  },
}
