import { MAX_ENTRIES } from '../../facts/excess-aggregation.ts'
import type { FleetIndex } from '../../facts/fleet-index.ts'
import type { Naming } from '../../facts/naming.ts'
import { objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { selects } from '../../kube/label-selector.ts'
import { at } from '../../kube/node.ts'
import { RBAC_GROUP } from '../../kube/rbac/binding.ts'
import { readRole } from '../../kube/rbac/read-role.ts'
import { textMapOf } from '../../kube/read-text.ts'
import { type Message, message } from '../../message/message.ts'
import { asMessage } from '../../message/said.ts'
import { overLimit } from '../model/over-limit.ts'
import type { Rule, Violation } from '../model/rule.ts'

const LABELS = ['metadata', 'labels']
const CLUSTER_ROLE = `${RBAC_GROUP}/ClusterRole`
const PREFIX = 'rbac.authorization.k8s.io/aggregate-to-'

/** A ClusterRole that becomes a part of others, or that takes in others. */
export const rbacAggregation: Rule = {
  id: 'rbac-aggregation',
  severity: 'critical',
  title: 'Aggregated ClusterRole',
  why: "A ClusterRole whose labels match an aggregated role adds its rules to that role. With `aggregate-to-edit`, `-admin` or `-view`, all subjects of these roles gain the rules, including in other tenants' namespaces. An aggregated role of a tenant collects rules that others write.",
  source: 'https://kubernetes.io/docs/reference/access-authn-authz/rbac/#aggregated-clusterroles',
  docs: 'Write a Role in a namespace of the tenant. Ask a fleet admin to extend `view`, `edit` or `admin`.',
  kinds: [CLUSTER_ROLE],
  *checkTenantObject(subject, { index }) {
    for (const key of aggregatingLabels(index, subject)) {
      const what = key.startsWith(PREFIX) ? key.slice(PREFIX.length) : 'roles that select this label'
      yield violation(
        subject,
        [...LABELS, key],
        key,
        message`adds its rules to ${quoted('value', what)} by its label ${quoted('field', key)}`,
      )
    }
    const rule = at(subject.object.root, ['aggregationRule'])
    if (rule && !(rule.type === 'scalar' && rule.value === null)) {
      yield violation(
        subject,
        ['aggregationRule'],
        'aggregationRule',
        'collects the rules of other roles with its aggregationRule',
      )
      if (index.isExcessAggregation(subject.node.cluster, subject.object)) {
        const what = `the aggregated ClusterRoles of tenant ${subject.node.tenant} have more than ${MAX_ENTRIES} roles, selectors, requirements and values, so their rules are not evaluated`
        yield overLimit(subject.node, what, 'Remove aggregated ClusterRoles of the tenant.', rule.origin)
      }
    }
  },
}

const AGGREGATED: Naming = {
  id: 'platform aggregates',
  of: ({ node, object }) => (node.tenant === undefined && at(object.root, ['aggregationRule']) ? [''] : []),
}

function aggregatingLabels(index: FleetIndex, { node, object }: Subject): string[] {
  const labels = at(object.root, LABELS)
  if (labels?.type !== 'map') return []
  const known = [...labels.fields.keys()].filter(key => key.startsWith(PREFIX))
  if (known.length > 0) return known
  const own = textMapOf(labels) ?? new Map<string, string>()
  // a tenant's own aggregated role is its own violation, whatever it selects
  const selecting = index
    .foundAnywhere(node.cluster, CLUSTER_ROLE, AGGREGATED, '')
    .flatMap(other => readRole(other.object)?.selectors ?? [])
    .filter(selector => selects(selector, own))
  return [...new Set(selecting.flatMap(selector => selector.map(({ key }) => key)))].filter(key => own.has(key))
}

function violation({ node, object, id }: Subject, path: string[], value: string, what: string | Message): Violation {
  return {
    node,
    object,
    path,
    value,
    message: message`${objectPart(id.kind, '', id.name)} ${asMessage(what)}. Allowed: Roles in the tenant's namespaces.`,
    fix: message`Write a Role in a namespace of the tenant, without the label or aggregationRule.`,
  }
}
