import { objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { ROOT_NAMESPACE } from '../../flux/kinds.ts'
import { type BoundSubject, RBAC_GROUP } from '../../kube/rbac/binding.ts'
import { readBinding } from '../../kube/rbac/read-binding.ts'
import { codeWord, message } from '../../message/message.ts'
import type { Rule, RuleContext, Violation } from '../model/rule.ts'
import { declaredOwner } from '../rbac/support/declared-owner.ts'
import { reachOf, subjectText } from '../rbac/support/subject-reach.ts'

/** What Kubernetes itself puts into every namespace, for every pod to read. */
const MADE_FOR_ALL = ['kube-root-ca.crt', 'openshift-service-ca.crt']

/** Roles that a tenant never gives to all accounts of its namespace with the others in mind. */
const WIDE = ['cluster-admin', 'admin', 'edit']
/** Capsule gives these to all accounts of a namespace, and its admission confines them. */
const OF_CAPSULE = /^capsule-namespace-/
const READS = ['get', 'list', 'watch']

/** The account that everything gets which names none holds nothing. */
export const defaultSaPrivileged: Rule = {
  id: 'default-sa-privileged',
  severity: 'high',
  level: 'warning',
  title: 'Rights of the `default` service account',
  why: 'A pod that names no account runs as `default`. A locked-down Flux uses `default` where an object names no account. Rights of `default` are rights of every such pod. A replaced certificate authority in `kube-root-ca.crt` affects every pod too.',
  source: 'https://fluxcd.io/flux/installation/configuration/multitenancy/',
  docs: 'Create a separate account for each workload that needs rights. Do not change `default` and `kube-root-ca.crt`. Rights to write are a violation. Rights to read are a warning. The namespace of Flux counts too, where its controllers use `default` for an object without an account.',
  kinds: [`${RBAC_GROUP}/RoleBinding`, `${RBAC_GROUP}/ClusterRoleBinding`, '/ConfigMap', '/Secret'],
  *checkObject(subject, context) {
    if (subject.id.kind.endsWith('Binding')) yield* evaluateBinding(context, subject)
    else if (subject.node.tenant !== undefined && MADE_FOR_ALL.includes(subject.id.name)) yield stand(subject)
  },
}

function* evaluateBinding(context: RuleContext, { node, object, id }: Subject): Iterable<Violation> {
  const binding = readBinding(object)
  if (!binding) return
  const role = binding.roleRef.name
  const rules = context.index.roleRules(node.cluster, binding.roleRef, binding.namespace)
  const writes = !rules?.every(({ verbs }) => verbs.every(verb => READS.includes(verb)))
  for (const [at, subject] of binding.subjects.entries()) {
    const namespace = defaultOf(subject, {
      // what a group has in the whole cluster is the rule sa-foreign's
      all:
        id.kind === 'RoleBinding' &&
        (node.tenant === undefined ? writes && !OF_CAPSULE.test(role) : WIDE.includes(role)),
    })
    if (namespace === undefined) continue
    if (
      declaredOwner(context, node.cluster, namespace) === undefined &&
      !(writes && isFlux(context, node, namespace))
    ) {
      continue
    }
    yield {
      node,
      object,
      path: ['subjects', at],
      value: `${subjectText(subject)} ${role}`,
      message: message`${objectPart(id.kind, binding.namespace, id.name)} grants ${quoted('value', role)} to ${quoted('identity', subjectText(subject))}, and so to every pod and Flux object of namespace ${quoted('object', namespace)} that names no account. Allowed: accounts other than "default".`,
      fix: message`Bind a separate account, and set ${codeWord('serviceAccountName')} to it where the rights are needed.`,
      ...(writes ? { level: 'violation' as const } : {}),
    }
  }
}

/** Whether it is the namespace of Flux, and Flux acts as `default` where an object there names no account. */
function isFlux({ index }: RuleContext, { cluster }: FleetNode, namespace: string): boolean {
  const { defaultServiceAccount, helmDefaultServiceAccount } = index.cluster(cluster)?.lockdown ?? {}
  const isUsed = [defaultServiceAccount, helmDefaultServiceAccount].includes('default')
  return isUsed && namespace === (index.rootOf(cluster)?.namespace ?? ROOT_NAMESPACE)
}

/** The namespace whose account `default` a subject means, by its name or, with `all`, as one of all its accounts. */
function defaultOf(subject: BoundSubject, { all }: { readonly all: boolean }): string | undefined {
  const reach = reachOf(subject)
  if (reach.of !== 'accounts') return undefined
  return reach.name === 'default' || (all && reach.name === undefined) ? reach.namespace : undefined
}

function stand({ node, object, id }: Subject): Violation {
  return {
    node,
    object,
    path: ['metadata', 'name'],
    value: id.name,
    message: message`${objectPart(id.kind, id.namespace, id.name)} replaces an object that Kubernetes creates in every namespace, and every pod trusts its content. Allowed: another name.`,
    fix: message`Rename the object.`,
  }
}
