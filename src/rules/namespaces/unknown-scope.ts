import { identityPart, objectPart, quoted } from '../../facts/shown.ts'
import { FLUX_KINDS } from '../../flux/kinds.ts'
import { groupOf } from '../../kube/object.ts'
import { isKubernetesKind, isMisplacedClusterKind, misspelled } from '../../kube/scope/scope.ts'
import { probably } from '../../message/closest.ts'
import { codeWord, message, untyped } from '../../message/message.ts'
import { checkObject } from '../../schema/check-object.ts'
import type { Rule } from '../model/rule.ts'
import { comparedVersion } from '../schema/support/compared-version.ts'

/** A kind that nobody declares may belong to the whole cluster. */
export const unknownScope: Rule = {
  id: 'unknown-scope',
  severity: 'high',
  title: 'Kind of unknown scope',
  why: 'Bailiwick cannot determine whether an object of an unknown kind is namespaced or cluster-scoped. Kubernetes ignores `metadata.namespace` of a cluster-scoped object.',
  docs: "Render the kind's CustomResourceDefinition in the fleet, or declare the kind and its scope under `kinds` in .github/bailiwick.yaml. Or correct `apiVersion` and `kind`. The finding is a warning where no ClusterRoleBinding lets the account create objects of the API group: the API server rejects cluster-scoped objects then. Aggregated roles, roles outside the fleet, and RBAC that could not be evaluated count as granting it.",
  kinds: 'every',
  *checkTenantObject({ object, id, kind: fullKind, node }, { index, config }) {
    const { apiVersion, kind, namespace, name } = id
    if (apiVersion === '' || kind === '' || name === '') return
    if (index.scopeOf(node.cluster, apiVersion, kind) !== undefined) return
    // Another spelling of a known kind is no unknown kind: the rule invalid-object says so.
    if (misspelled(apiVersion, kind) !== undefined) return
    // and of a kind in a group of Kubernetes that is not its own the rule cluster-scoped-forbidden speaks
    if (isMisplacedClusterKind(apiVersion, kind)) return
    // a kind that Kubernetes does not serve is schema-mismatch's, where it is known what the cluster serves
    const { runs, minor } = comparedVersion(config, index, node.cluster)
    const isEnforced = !['off', 'warning'].includes(config.severities.get('schema-mismatch') ?? '')
    if (
      runs === undefined &&
      isEnforced &&
      isKubernetesKind(fullKind) &&
      checkObject(object.root, { version: minor }).isKnown
    )
      return
    const who = objectPart(kind, namespace, name)
    const place = { node, object, path: ['kind'], value: `${apiVersion} ${kind}` }
    const group = groupOf(apiVersion)
    const meant = probably(
      kind,
      FLUX_KINDS.flatMap(row => (row.group === group ? [row.kind] : [])),
    )
    const fix = meant
      ? message`Set ${codeWord('kind')} to ${quoted('value', meant)}.`
      : message`Render its CustomResourceDefinition in the fleet, or declare it under \`kinds\` in .github/bailiwick.yaml. Or correct apiVersion and kind.`
    const reach = index.clusterWide(node, group)
    if (reach === undefined) {
      const problem = message`${who} has a kind of unknown scope (${quoted('object', apiVersion)}). If the kind is cluster-scoped, the API server rejects the object: no ClusterRoleBinding lets ${identityPart(node.identity)} create it.`
      yield { ...place, message: problem, fix, level: 'warning' }
      return
    }
    const problem = message`${who} has a kind of unknown scope (${quoted('object', apiVersion)}). If the kind is cluster-scoped, the account could create it, because ${untyped(reach)}. Allowed: kinds of Kubernetes, of well-known projects, of CustomResourceDefinitions that the platform renders, and of \`kinds\` in .github/bailiwick.yaml.`
    yield { ...place, message: problem, fix }
  },
}
