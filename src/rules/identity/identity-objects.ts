import { capital, type Message, message } from '../../base/message.ts'
import { isDeclaredAccount } from '../../fleet/config/declared-settings.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { kindOf } from '../../fleet/facts/object-table.ts'
import { quoted, whoOf } from '../../fleet/facts/shown.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import type { FleetConfig } from '../../fleet/model/fleet-config.ts'
import { entriesOf, type Path } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { RBAC_GROUP, readBinding } from '../../kube/rbac/binding.ts'
import { userOfAccount } from '../../kube/rbac/policy-rule.ts'
import { type Rule, type RuleContext, Subject, type Violation } from '../model/rule.ts'
import { removalOf } from '../ownership/deletions.ts'
import { reachOf } from '../rbac/binding-subjects.ts'

const ACCOUNT = '/ServiceAccount'
const BINDING = `${RBAC_GROUP}/RoleBinding`
const ROLE = `${RBAC_GROUP}/Role`

/** Tenants do not write the objects that define their identity. */
export const identityObjectTamper: Rule = {
  id: 'identity-object-tamper',
  severity: 'high',
  title: "Change of the tenant's reconciler account",
  why: 'The reconciler account, its bindings and its kubeconfig confine the tenant. Flux forces every field that a manifest sets. A label or annotation can make Capsule grant the account more rights. Another kubeconfig leads to another cluster. Without the account, Flux cannot delete what it applied.',
  source: 'https://github.com/projectcapsule/capsule-addon-fluxcd; kustomize-controller finalize()',
  docs: "Remove the reconciler's ServiceAccount, Role, RoleBinding and kubeconfig Secret from the tenant's content. The platform renders them. Create separate accounts for workloads.",
  kinds: [ACCOUNT, BINDING, ROLE, '/Secret', '/ConfigMap'],
  *checkTenantObject(subject, context) {
    const why = whyItIsThePlatforms(subject, context)
    if (why) yield violation(subject, ['metadata', 'name'], message`${why}`)
    if (subject.kind === ACCOUNT) yield* capsuleMarks(subject)
  },
  *checkNode(node, context) {
    if (context.before) yield* takenAway(node, context, context.before)
  },
  *checkRemoved(node, context) {
    if (context.before) yield* takenAway(node, context, context.before)
  },
}

function whyItIsThePlatforms(subject: Subject, { index, config }: RuleContext) {
  const { node, kind, id } = subject
  const { cluster } = node
  if (kind === '/Secret' || kind === '/ConfigMap') {
    if (index.kubeConfigUse(cluster, id.namespace, id.kind, id.name)?.by === 'platform') {
      return "the platform's objects use it as a kubeconfig"
    }
    const suffix = /-(?:kubeconfig|token)$/.exec(id.name)?.[0]
    const account = suffix && id.name.slice(0, -suffix.length)
    const isMade =
      kind === '/Secret' && account && (index.capsuleHomes(cluster).get(id.namespace) ?? []).includes(account)
    return isMade ? "Capsule's addon keeps the credentials of the tenant's owner in it" : undefined
  }
  if (index.platformObject(cluster, kind, id.namespace, id.name)) return 'the platform also renders it'
  if (kind !== ACCOUNT || !isOwnReconciler(index, config, cluster, id.namespace, id.name)) return undefined
  return 'Flux acts as it for the platform'
}

/** Marks by which Capsule and its addon give an account more rights. */
const MARKS: readonly (readonly [string, RegExp])[] = [
  ['annotations', /^capsule\.addon\.(fluxcd|projectcapsule\.dev)\//],
  ['labels', /^(owner\.)?projectcapsule\.dev\/promote$/],
]

function* capsuleMarks(subject: Subject): Iterable<Violation> {
  for (const [part, pattern] of MARKS) {
    for (const [key] of entriesOf(subject.at(['metadata', part]))) {
      if (!pattern.test(key)) continue
      yield violation(
        subject,
        ['metadata', part, key],
        message`${quoted('value', key)} makes Capsule give this account rights and a kubeconfig`,
      )
    }
  }
}

function violation(subject: Subject, path: Path, why: Message): Violation {
  return subject.violation(path, String(path.at(-1)), {
    message: message`${subject.who} is part of the tenant's identity. ${capital(why)}. Allowed: this object only in the platform's content. Flux would force every field of it.`,
    fix:
      path[1] === 'name'
        ? message`Remove the object from the tenant's content, or rename it.`
        : message`Remove this field.`,
  })
}

/** What a node rendered before, no node renders now, and Flux still acts as. */
function* takenAway(node: FleetNode, context: RuleContext, before: RuleContext['index']): Iterable<Violation> {
  // a node that cannot be rendered does not show what it keeps
  if (node.error || node.source.opaque !== undefined) return
  const { index, config } = context
  const kept = new Set(index.objectsOf(node.key).map(textOfId))
  for (const object of before.objectsOf(node.key)) {
    const kind = kindOf(object)
    if ((kind !== ACCOUNT && kind !== BINDING) || kept.has(textOfId(object))) continue
    const { namespace, name } = idOf(object)
    const tenant = index.ownerOf(node.cluster, namespace)
    if (tenant === undefined || index.versionsOf(node.cluster, kind, namespace, name).length > 0) continue
    const account = accountsOf(object).find(account => isLeftAlone(index, node.cluster, namespace, kind, account))
    if (account === undefined) continue
    if (kind === ACCOUNT && isDeclaredAccount(config, { cluster: node.cluster, namespace, name, ofTenant: true }))
      continue
    yield gone(node, object, account, index)
  }
}

function textOfId(object: KubeObject): string {
  const { namespace, name } = idOf(object)
  return `${kindOf(object)} ${namespace}/${name}`
}

/** Whether Flux acts as an account that is now removed, or bound to nothing. */
function isLeftAlone(index: RuleContext['index'], cluster: string, namespace: string, kind: string, account: string) {
  if (index.reconciler(cluster, namespace, account) === undefined) return false
  if (kind === ACCOUNT) return true
  const bindings = index.bindingsOf(cluster, userOfAccount(namespace, account), namespace)
  return !bindings.some(one => one.namespace === namespace)
}

/** The accounts of the object's namespace that it is about: itself, or a binding's subjects. */
function accountsOf(object: KubeObject): string[] {
  const { kind, namespace, name } = idOf(object)
  if (kind === 'ServiceAccount') return [name]
  return (readBinding(object)?.subjects ?? []).flatMap(subject => {
    const reach = reachOf(subject)
    return reach.of === 'accounts' && reach.namespace === namespace && reach.name !== undefined ? [reach.name] : []
  })
}

function gone(node: FleetNode, object: KubeObject, account: string, index: RuleContext['index']): Violation {
  const { kind } = idOf(object)
  return new Subject({ node, object }).violation(['metadata', 'name'], 'removed', {
    ...removalOf(object, node, index),
    message: message`${whoOf(object)} is removed, but Flux still acts as account ${quoted('object', account)}. Allowed: the removal after its last use. ${kind === 'ServiceAccount' ? 'When Flux deletes what acts as the account, it leaves all objects: "failed to find account to impersonate"' : 'No visible RoleBinding gives the account rights there anymore, so the API server refuses what Flux applies as it'}.`,
    fix: message`Keep the object until no Kustomization or HelmRelease names the account, or ask a fleet admin to render it.`,
  })
}

const ACCOUNT_ANNOTATION = ['metadata', 'annotations', 'kubernetes.io/service-account.name']

/** A token that never expires, readable by every reader of Secrets in the namespace. */
export const saTokenSecret: Rule = {
  id: 'sa-token-secret',
  severity: 'high',
  title: 'Long-lived service account token',
  why: 'Kubernetes writes a service account token into a Secret of this type. It does not expire and is not bound to a pod. A reader of the Secret can act as the account from anywhere until the Secret is deleted.',
  source: 'https://kubernetes.io/docs/concepts/security/service-accounts/#get-a-token',
  docs: "Request short-lived tokens (`kubectl create token`, a projected volume). Ask a fleet admin to render a long-lived token where one is required, such as for Capsule's proxy.",
  kinds: ['/Secret'],
  *checkTenantObject(subject, { index, config }) {
    if (subject.text(['type']) !== 'kubernetes.io/service-account-token') return
    const account = subject.text(ACCOUNT_ANNOTATION) ?? ''
    const reconciles =
      account !== '' && isOwnReconciler(index, config, subject.node.cluster, subject.id.namespace, account)
    yield subject.violation(account === '' ? ['type'] : ACCOUNT_ANNOTATION, account, {
      message: message`${subject.who} requests a token of account ${quoted('object', account)} that does not expire${reconciles ? '. Flux deploys the namespace as that account' : ''}. Allowed: short-lived tokens of pods.`,
      fix: message`Remove the Secret, and use a projected service account token.`,
      ...(reconciles ? { severity: 'critical' as const } : {}),
    })
  },
}

/** Whether the platform lets Flux act as an account of a tenant's namespace, or declares that the cluster creates it. */
function isOwnReconciler(
  index: FleetIndex,
  config: FleetConfig,
  cluster: string,
  namespace: string,
  name: string,
): boolean {
  if (index.reconciler(cluster, namespace, name) === 'platform') return true
  const ofTenant = index.ownerOf(cluster, namespace) !== undefined
  return isDeclaredAccount(config, { cluster, namespace, name, ofTenant })
}
