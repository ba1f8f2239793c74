import { objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { at, originAt } from '../../kube/node.ts'
import { RBAC_GROUP } from '../../kube/rbac/binding.ts'
import type { PolicyRule } from '../../kube/rbac/policy-rule.ts'
import { readBinding } from '../../kube/rbac/read-binding.ts'
import { message, part } from '../../message/message.ts'
import type { Rule, RuleContext } from '../model/rule.ts'
import { declaredOwner } from './support/declared-owner.ts'
import { reachOf } from './support/subject-reach.ts'
import { writtenRules } from './support/written-rules.ts'

/** Roles of Kubernetes itself that hold Flux's own by aggregation, or everything. */
const STANDARD = ['cluster-admin', 'admin', 'edit', 'view']
const ROLES = [`${RBAC_GROUP}/Role`, `${RBAC_GROUP}/ClusterRole`]
const AGGREGATE = 'rbac.authorization.k8s.io/aggregate-to-'

/** Whoever writes the status of a source decides what Flux deploys from it, past git. */
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
    else if (subject.node.tenant === undefined) yield* evaluateBinding(context, subject)
  },
}

function* evaluateRole({ node, object, id }: Subject) {
  const labels = at(object.root, ['metadata', 'labels'])
  const aggregated = labels?.type === 'map' && [...labels.fields.keys()].some(key => key.startsWith(AGGREGATE))
  if (node.tenant === undefined && !aggregated) return
  for (const { at: index, rule } of writtenRules(object)) {
    const named = statusOf(rule)
    // A star is how Flux itself writes the role that it aggregates into edit.
    if (!named || (node.tenant === undefined && named === '*')) continue
    yield {
      node,
      object,
      path: ['rules'],
      origin: originAt(object.root, ['rules', index]),
      value: named,
      message: message`${objectPart(id.kind, id.namespace, id.name)} allows writing ${quoted('value', named)} of Flux's objects, including the status: an account could then deploy content that is not in git. Allowed: the objects without their status.`,
      fix: message`List the resources without /status and without "*".`,
    }
  }
}

function* evaluateBinding(context: RuleContext, { node, object, id }: Subject) {
  const binding = readBinding(object)
  if (!binding || STANDARD.includes(binding.roleRef.name)) return
  const ofTenant = binding.subjects.some(subject => {
    const reach = reachOf(subject)
    return reach.of === 'accounts' && declaredOwner(context, node.cluster, reach.namespace) !== undefined
  })
  const rules = ofTenant ? context.index.roleRules(node.cluster, binding.roleRef, binding.namespace) : undefined
  const named = rules?.map(statusOf).find(text => text !== undefined)
  if (named === undefined) return
  const { kind, name } = binding.roleRef
  yield {
    node,
    object,
    path: ['roleRef'],
    value: `${kind} ${name}`,
    message: message`${objectPart(id.kind, binding.namespace, id.name)} lets an account of a tenant write ${quoted('value', named)} of Flux's objects by ${part('object', kind)} ${quoted('object', name)}, including the status: it could then deploy content that is not in git. Allowed: roles without write access to the status.`,
    fix: message`Set roleRef to a role that lists Flux resources without /status and without "*".`,
  }
}

/** The resources by which a rule that names a group of Flux lets its status be written. */
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
