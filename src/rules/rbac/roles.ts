import { asMessage, type Message, message, part } from '../../base/message.ts'
import { MAX_ENTRIES } from '../../fleet/facts/cluster-rights.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import type { Naming } from '../../fleet/facts/object-table.ts'
import { objectPart, quoted } from '../../fleet/facts/shown.ts'
import { at, originAt } from '../../kube/node.ts'
import { RBAC_GROUP, readBinding, readRole } from '../../kube/rbac/binding.ts'
import { type PolicyRule, userOfAccount } from '../../kube/rbac/policy-rule.ts'
import { selects, textMapOf } from '../../kube/read-fields.ts'
import { overLimit, type Rule, type RuleContext, type Subject, type Violation } from '../model/rule.ts'
import { ownerOfSubject } from './binding-subjects.ts'
import { writtenRules } from './escalation.ts'

const LABELS = ['metadata', 'labels']
const CLUSTER_ROLE = `${RBAC_GROUP}/ClusterRole`
const PREFIX = 'rbac.authorization.k8s.io/aggregate-to-'

/** A ClusterRole that is aggregated into others, or that aggregates others. */
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
    const rule = subject.at(['aggregationRule'])
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

function violation(subject: Subject, path: string[], value: string, what: string | Message): Violation {
  return subject.violation(path, value, {
    message: message`${objectPart(subject.id.kind, '', subject.id.name)} ${asMessage(what)}. Allowed: Roles in the tenant's namespaces.`,
    fix: message`Write a Role in a namespace of the tenant, without the label or aggregationRule.`,
  })
}

/** A binding to a missing role: the role's later author decides what was granted. */
export const rbacDanglingRole: Rule = {
  id: 'rbac-dangling-role',
  severity: 'low',
  level: 'warning',
  title: 'Binding to a role that does not exist',
  why: 'A binding to a missing role grants nothing until the role is created, for example by a platform chart. It then grants everything in that role. The API server rejects the binding unless its author has the verb `bind`.',
  source:
    'https://kubernetes.io/docs/reference/access-authn-authz/rbac/#privilege-escalation-prevention-and-bootstrapping',
  docs: 'Name a Role that the fleet renders in the same namespace, or a ClusterRole that the platform renders. `view`, `edit` and `admin` of Kubernetes are allowed too. For bindings of the platform, only a misspelled name in a binding of people is reported.',
  kinds: [`${RBAC_GROUP}/RoleBinding`, `${RBAC_GROUP}/ClusterRoleBinding`],
  *checkObject(subject, { index }) {
    const { object, node } = subject
    const binding = readBinding(object)
    if (!binding || index.roleRules(node.cluster, binding.roleRef, binding.namespace)) return
    const users = binding.subjects.map(one =>
      one.kind === 'ServiceAccount' ? userOfAccount(one.namespace, one.name) : one.name,
    )
    // account-cannot-apply names the role if an account lacks it, or may not bind it
    const nodes = binding.subjects.flatMap(one => index.nodesIn(node.cluster, one.namespace))
    const refused = [node, ...nodes].flatMap(({ key }) => index.refusals(key))
    if (refused.some(one => users.includes(one.user) || (one.object === object && one.without === 'missing-role')))
      return
    const { kind, name } = binding.roleRef
    const meant = index.meantRole(node.cluster, binding)
    // a chart may bring the role of a platform binding; what its accounts lack is reported at the objects they apply
    const isForAccounts = binding.subjects.some(one => one.kind === 'ServiceAccount')
    if (node.tenant === undefined && (meant === undefined || isForAccounts)) return
    const answer = `${kind.toLowerCase()}s.${RBAC_GROUP} "${name}" not found`
    yield subject.violation(['roleRef', 'name'], `${kind} ${name}`, {
      message: message`${subject.who} binds to ${part('object', kind)} ${quoted('object', name)}, which does not exist in the fleet or in Kubernetes. The binding grants whatever that role contains later. Allowed: roles that exist. The API server may reject this: ${quoted('value', answer)}.`,
      fix: meant
        ? message`Set roleRef.name to ${part('object', meant)}, or render the role.`
        : message`Set roleRef.name to a role that exists, or render the role.`,
    })
  },
}

/** Kubernetes' own roles that include Flux's by aggregation, or have all rights. */
const STANDARD = ['cluster-admin', 'admin', 'edit', 'view']
const ROLES = [`${RBAC_GROUP}/Role`, `${RBAC_GROUP}/ClusterRole`]
const AGGREGATE = 'rbac.authorization.k8s.io/aggregate-to-'

/** A user who can write a source's status decides what Flux deploys from it, bypassing git. */
export const rbacFluxStatusWrite: Rule = {
  id: 'rbac-flux-status-write',
  severity: 'high',
  level: 'warning',
  title: 'Write access to the status of Flux objects',
  why: "The status of a source holds the address of the archive that Flux deploys. The status of a Kustomization lists the objects that Flux deletes. An account that can patch them deploys content that no repository holds. Flux's role `flux-edit` grants this, because `*` includes subresources.",
  source: 'fluxcd/flux2 manifests/rbac/edit.yaml; RFC-0012',
  docs: 'List Flux resources one by one (`gitrepositories`, `kustomizations`), without `*` and `/status`, or bind the role of `bailiwick onboard`, `bailiwick-tenant`.',
  kinds: [...ROLES, `${RBAC_GROUP}/RoleBinding`, `${RBAC_GROUP}/ClusterRoleBinding`],
  *checkObject(subject, context) {
    if (ROLES.includes(subject.kind)) yield* evaluateRole(subject)
    else if (subject.node.tenant === undefined) yield* statusBinding(subject, context)
  },
}

function* evaluateRole(subject: Subject) {
  const { node, object } = subject
  const labels = subject.at(['metadata', 'labels'])
  const aggregated = labels?.type === 'map' && [...labels.fields.keys()].some(key => key.startsWith(AGGREGATE))
  if (node.tenant === undefined && !aggregated) return
  for (const { at: index, rule } of writtenRules(object)) {
    const named = statusOf(rule)
    // Flux itself writes a wildcard in the role that it aggregates into edit
    if (!named || (node.tenant === undefined && named === '*')) continue
    yield subject.violation(['rules'], named, {
      origin: originAt(object.root, ['rules', index]),
      message: message`${subject.who} allows writing ${quoted('value', named)} of Flux's objects, including the status. An account could then deploy content that is not in git. Allowed: the objects without their status.`,
      fix: message`List the resources without /status and without "*".`,
    })
  }
}

function* statusBinding(subject: Subject, context: RuleContext): Iterable<Violation> {
  const { node, object, id } = subject
  const binding = readBinding(object)
  if (!binding || STANDARD.includes(binding.roleRef.name)) return
  const ofTenant = binding.subjects.some(one => ownerOfSubject(context, node.cluster, one) !== undefined)
  const rules = ofTenant ? context.index.roleRules(node.cluster, binding.roleRef, binding.namespace) : undefined
  const named = rules?.map(statusOf).find(text => text !== undefined)
  if (named === undefined) return
  const { kind, name } = binding.roleRef
  yield subject.violation(['roleRef'], `${kind} ${name}`, {
    message: message`${objectPart(id.kind, binding.namespace, id.name)} lets a tenant's account write ${quoted('value', named)} of Flux's objects by ${part('object', kind)} ${quoted('object', name)}, including the status. It could then deploy content that is not in git. Allowed: roles without write access to the status.`,
    fix: message`Set roleRef to a role that lists Flux resources without /status and without "*".`,
  })
}

/** The resources whose status a rule that names a group of Flux can write. */
function statusOf({ verbs, apiGroups, resources }: PolicyRule): string | undefined {
  if (!verbs.some(verb => ['patch', 'update', 'create', '*'].includes(verb))) return undefined
  const ofFlux = apiGroups.some(group => group.endsWith('.fluxcd.io'))
  if (!ofFlux && !apiGroups.includes('*')) return undefined
  const found = resources.filter(one => one.endsWith('/status') || (one === '*' && ofFlux))
  const relevant = ofFlux ? found : found.filter(one => FLUX_STATUS.test(one))
  return relevant.length > 0 ? relevant.sort().join(' ') : undefined
}

const FLUX_STATUS =
  /^(gitrepositories|ocirepositories|helmrepositories|helmcharts|buckets|externalartifacts|artifactgenerators|kustomizations|helmreleases)\/status$/
