import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { kubeConfigRefs } from '../../../facts/kubeconfig-uses.ts'
import { identityPart, objectPart, quoted } from '../../../facts/shown.ts'
import type { Subject } from '../../../facts/subject.ts'
import { accountOf, kubeConfigOf } from '../../../fleet/model/appliers.ts'
import { CONTROLLER } from '../../../fleet/tenancy/identity.ts'
import { KUBECONFIG_FIELD } from '../../../flux/kinds.ts'
import { withEmbedded } from '../../../kube/capabilities/embedded-objects.ts'
import { canonical, originAt, stringAt } from '../../../kube/node.ts'
import { idOf, type KubeObject } from '../../../kube/object.ts'
import { userOfAccount } from '../../../kube/rbac/groups-of.ts'
import { probably } from '../../../message/closest.ts'
import { codeWord, message, part } from '../../../message/message.ts'
import type { RuleContext, Violation } from '../../model/rule.ts'

/** The Secret that capsule-addon-fluxcd and the worker create for an account, and that `onboard` names. */
const secretOf = (account: string) => `${account}-kubeconfig`

const SECRET = [...KUBECONFIG_FIELD, 'secretRef']

/** What may create a Secret of a name that it states, and is not rendered itself. */
const MAKERS = [
  'external-secrets.io/ExternalSecret',
  'external-secrets.io/ClusterExternalSecret',
  'bitnami.com/SealedSecret',
  'capsule.clastix.io/GlobalTenantResource',
  'capsule.clastix.io/TenantResource',
  'kyverno.io/ClusterPolicy',
  'kyverno.io/Policy',
  'policies.kyverno.io/GeneratingPolicy',
  'batch/Job',
  'batch/CronJob',
]

/**
 * The kubeconfig by which Flux acts for a Capsule Tenant leads to Capsule's proxy of the same cluster. An object that no longer
 * names it acts elsewhere; one that names a Secret that nothing makes does not act at all.
 */
export function* proxyKubeConfig(subject: Subject, { index, before }: RuleContext): Iterable<Violation> {
  const { node, object, id } = subject
  const tenant = index.actsFor(node, object)
  if (tenant === undefined || !index.isCapsuleTenant(node.cluster, tenant)) return
  const versions = before?.versionsOf(node.cluster, subject.kind, id.namespace, id.name) ?? []
  const was = versions.find(version => kubeConfigOf(version.object) !== undefined)?.object
  const config = kubeConfigOf(object)
  if (config === undefined) {
    if (was && versions.every(version => kubeConfigOf(version.object) !== undefined)) yield dropped(subject, index, was)
    return
  }
  if (was) yield* otherKey(subject, index, was)
  // a tenant names only what the platform gave it
  if (node.tenant !== undefined) return
  for (const { kind, name, path } of kubeConfigRefs(config)) {
    if (kind !== 'Secret' || isMade(index, subject, name)) continue
    if (before?.kubeConfigUse(node.cluster, id.namespace, kind, name)) continue
    const accounts = index.capsuleHomes(node.cluster).get(id.namespace) ?? []
    const meant = stringAt(kubeConfigOf(was ?? object), ['secretRef', 'name'])
    const wanted = meant !== undefined && meant !== name ? meant : accounts[0] && secretOf(accounts[0])
    yield {
      node,
      object,
      path,
      value: `not made ${name}`,
      // a Secret that somebody adds by hand may have any name
      level: was || (wanted !== undefined && probably(name, [wanted])) ? 'violation' : 'warning',
      message: message`${objectPart(id.kind, id.namespace, id.name)} uses the kubeconfig in ${objectPart('Secret', id.namespace, name)}, which nothing visible creates. Allowed: ${quoted('object', wanted ?? secretOf('<account>'))}, which capsule-addon-fluxcd or the worker creates, or a Secret in the fleet. Flux: secrets ${quoted('object', name)} not found.`,
      fix: message`Set ${codeWord('spec.kubeConfig.secretRef.name')} to ${quoted('object', wanted ?? secretOf('<account>'))}, or create the Secret first.`,
    }
  }
}

function isMade(index: FleetIndex, { node: { cluster }, object, id: { namespace } }: Subject, name: string): boolean {
  // an owner may be the group of a namespace, too
  const account = accountOf(object, index.cluster(cluster)?.lockdown)
  const accounts = [...(index.capsuleHomes(cluster).get(namespace) ?? []), ...(account ? [account] : [])]
  if (accounts.some(one => name === secretOf(one))) return true
  if (index.versionsOf(cluster, '/Secret', namespace, name).length > 0) return true
  const states = (object: KubeObject) =>
    canonical(object.root).includes(JSON.stringify(name)) || withEmbedded(object).some(one => idOf(one).name === name)
  return MAKERS.some(kind => index.renderedAnywhere(cluster, kind).some(({ object }) => states(object)))
}

/** Another key of the same Secret, which nothing in git holds: the addon, the worker and people write the one of before. */
function* otherKey({ node, object, id }: Subject, index: FleetIndex, was: KubeObject): Iterable<Violation> {
  const [now, then] = [object, was].map(one => ({
    name: stringAt(one.root, [...SECRET, 'name']) ?? '',
    key: stringAt(one.root, [...SECRET, 'key']),
  }))
  if (!now || !then || now.name !== then.name || now.key === then.key) return
  if (index.versionsOf(node.cluster, '/Secret', id.namespace, now.name).length > 0) return
  const key = now.key ?? 'value'
  yield {
    node,
    object,
    path: now.key === undefined ? SECRET : [...SECRET, 'key'],
    value: `key ${key}`,
    message: message`${objectPart(id.kind, id.namespace, id.name)} reads the key ${quoted('value', key)} of ${objectPart('Secret', id.namespace, now.name)}: before this change it read ${quoted('value', then.key ?? 'value')}. Allowed: the key of before, where the Secret is not in git. Flux: KubeConfig secret ${quoted('object', now.name)} does not contain a ${quoted('value', key)} key.`,
    fix: message`Set ${codeWord('spec.kubeConfig.secretRef.key')} to ${quoted('value', then.key ?? 'value')}.`,
  }
}

function dropped(subject: Subject, index: FleetIndex, was: KubeObject): Violation {
  const { node, object, id } = subject
  const account = accountOf(object, index.cluster(node.cluster)?.lockdown)
  const isOwn = account !== undefined && (index.capsuleHomes(node.cluster).get(id.namespace) ?? []).includes(account)
  const name = stringAt(kubeConfigOf(was), ['secretRef', 'name']) ?? ''
  const identity = account ? { user: userOfAccount(id.namespace, account), impersonated: true } : CONTROLLER
  const { file, line } = originAt(was.root, KUBECONFIG_FIELD)
  return {
    node: index.nodeOf(node.cluster, object) ?? node,
    renderedBy: node,
    object,
    path: ['spec'],
    value: `without ${name} as ${account ?? 'controller'}`,
    level: isOwn ? 'warning' : 'violation',
    message: message`${objectPart(id.kind, id.namespace, id.name)} no longer uses the kubeconfig in ${objectPart('Secret', id.namespace, name)}: Flux sends its requests to the API server instead of Capsule's proxy, as ${identityPart(identity)}. ${isOwn ? message`The account may apply it, but only the proxy lists namespaces and other cluster-scoped objects for it` : message`It does not own the Capsule Tenant`}. Allowed: the kubeconfig of the proxy.`,
    fix: message`Restore ${codeWord('spec.kubeConfig')} with ${codeWord('secretRef.name')}: ${part('object', name)} (before this change at ${part('path', `${file}:${line}`)}).`,
  }
}
