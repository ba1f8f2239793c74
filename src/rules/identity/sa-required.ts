import type { FleetIndex } from '../../facts/fleet-index.ts'
import { namespacePart, objectPart, quoted } from '../../facts/shown.ts'
import { isDeclaredAccount } from '../../fleet/config/declared-account.ts'
import { accountOf, applierKinds, fallbackAccount, kubeConfigOf } from '../../fleet/model/appliers.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { isBlank, misspelled } from '../../fleet/model/read-spec.ts'
import { ACCOUNT_FIELD } from '../../flux/kinds.ts'
import { at, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { userInfo, userOfAccount } from '../../kube/rbac/groups-of.ts'
import { codeWord, type Message, message, part } from '../../message/message.ts'
import type { Rule, RuleContext, Violation } from '../model/rule.ts'

/** What Flux applies for a tenant must name the account it acts as, or it acts as the controller. */
export const saRequired: Rule = {
  id: 'sa-required',
  severity: 'critical',
  title: 'Missing service account',
  why: 'Flux applies a Kustomization, HelmRelease or ResourceSet without a service account as the controller itself, which is cluster-admin. With a default account that the fleet does not render, its rights are unknown. With only `kubeConfig`, Flux acts as the user of that kubeconfig.',
  source: 'https://fluxcd.io/flux/installation/configuration/multitenancy/; CVE-2026-23990',
  docs: "Set `spec.serviceAccountName` to the tenant's reconciler account, in the object or in a patch of the Kustomization that renders it. The field may be absent only where the cluster sets `--default-service-account`. The fleet must render that account in the namespace, with a visible role, or list it under `accounts` in .github/bailiwick.yaml. Where the label of the namespace is all that the cluster has of a tenant, the finding is a warning.",
  kinds: applierKinds,
  *checkObject({ object, node }, context) {
    if (context.index.actsFor(node, object) === undefined) return
    const violation = evaluateFleet(context, node, object)
    if (violation) yield { ...violation, ...(meantAs(context, node, object) ?? named(context, node, object)) }
  },
}

/** Whether this rule blocks an object that acts for a tenant: its account is not known. */
export function lacksAccount(context: RuleContext, node: FleetNode, object: KubeObject): boolean {
  return context.index.actsFor(node, object) !== undefined && evaluateFleet(context, node, object) !== undefined
}

/** A key that was probably meant to name the account is the cause, and no other rule speaks of it. */
function meantAs(context: RuleContext, { cluster }: FleetNode, object: KubeObject): Partial<Violation> | undefined {
  const { kind, namespace, name } = idOf(object)
  const path = misspelled(object, ACCOUNT_FIELD)
  if (path?.length !== ACCOUNT_FIELD.length) return undefined
  const account = stringAt(object.root, path)
  const isCertain = account !== undefined && isKnown(context, cluster, namespace, account)
  return {
    path,
    isMalformed: true,
    message: message`${objectPart(kind, namespace, name)}: Flux has no field ${quoted('field', path.join('.'))}, so no service account is named. Allowed: ${codeWord('serviceAccountName')}.`,
    fix: message`Rename it to ${codeWord('serviceAccountName')}.`,
    ...(isCertain ? { edit: { rename: 'serviceAccountName' } } : {}),
  }
}

/** Where the platform acts in the namespace as one account only, or renders one only, that is the one. */
function named({ index, config }: RuleContext, node: FleetNode, object: KubeObject): Pick<Violation, 'edit'> {
  const { namespace } = idOf(object)
  const { cluster } = node
  const candidates = [soleReconciler(index, cluster, namespace), soleAccount(index, cluster, namespace)]
  const name = candidates.find(one => one !== undefined && isKnown({ index, config }, cluster, namespace, one))
  if (name === undefined) return {}
  return { edit: at(object.root, ACCOUNT_FIELD) === undefined ? { add: name } : { set: name } }
}

function evaluateFleet(context: RuleContext, node: FleetNode, object: KubeObject): Violation | undefined {
  const { index } = context
  const { kind, namespace, name } = idOf(object)
  // A name that is none is the rule invalid-object's.
  if (!isBlank(at(object.root, ACCOUNT_FIELD))) return undefined
  const written = stringAt(object.root, ACCOUNT_FIELD) ?? ''
  const account = fallbackAccount(object, index.cluster(node.cluster)?.lockdown)
  const isRendered = account !== undefined && isKnown(context, node.cluster, namespace, account)
  if (written === '' && isRendered && mayApply(context, node.cluster, namespace, account)) return undefined
  const isElsewhere = kubeConfigOf(object) !== undefined
  const config = isElsewhere ? message` for the cluster of its kubeConfig` : message``
  const given = written === '' ? message`` : message` (${quoted('value', written)})`
  const isPlatforms = node.tenant === undefined && account === undefined && !isElsewhere
  const owner = index.ownerOf(node.cluster, namespace)
  const isAlone = isPlatforms && owner !== undefined && index.isLabelAlone(node.cluster, namespace)
  const set = message`Set ${codeWord('spec.serviceAccountName')} to the reconciler account of ${namespacePart(namespace)}`
  return {
    node: index.nodeOf(node.cluster, object) ?? node,
    renderedBy: node,
    object,
    path: ACCOUNT_FIELD,
    value: written,
    message: message`${objectPart(kind, namespace, name)} names no service account${given}${config}: ${asWhom(account, namespace, isElsewhere, isRendered)}. Allowed: an account in its own namespace.`,
    ...(isAlone ? { level: 'warning' } : {}),
    fix: isAlone
      ? message`${set}. If tenant ${part('tenant', owner)} is the platform, list it with ${codeWord('platform: true')} in ${codeWord('.github/bailiwick.yaml')}.`
      : message`${set}.`,
  }
}

function isKnown(
  { index, config }: Pick<RuleContext, 'index' | 'config'>,
  cluster: string,
  namespace: string,
  name: string,
): boolean {
  const ofTenant = index.ownerOf(cluster, namespace) !== undefined
  return (
    index.platformObject(cluster, '/ServiceAccount', namespace, name) !== undefined ||
    isDeclaredAccount(config, { cluster, namespace, name, ofTenant })
  )
}

/** Whether the account has a role, or may have one that is not visible: that the platform renders it gives it no right. */
function mayApply({ index, config }: RuleContext, cluster: string, namespace: string, name: string): boolean {
  const ofTenant = index.ownerOf(cluster, namespace) !== undefined
  const user = userOfAccount(namespace, name)
  const request = { verb: 'patch', apiGroup: '', resource: 'configmaps', namespace, name: '' }
  return (
    isDeclaredAccount(config, { cluster, namespace, name, ofTenant }) ||
    index.holdsRoles(cluster, user) ||
    index.unseenGrants(cluster, userInfo(user), request, { ofTenants: true }).length > 0
  )
}

function asWhom(account: string | undefined, namespace: string, elsewhere: boolean, isRendered: boolean): Message {
  if (account) {
    const what = isRendered ? message`has no visible role` : message`the fleet does not render`
    return message`Flux would apply it as the default account ${quoted('object', account)}, which ${what} in ${namespacePart(namespace)}`
  }
  return elsewhere
    ? message`Flux would apply it as the user of the kubeconfig, without impersonation`
    : message`Flux would apply it as the controller itself (cluster-admin)`
}

/** The one account as which the platform has Flux act in a namespace; undefined where it has none, or several. */
function soleReconciler(index: FleetIndex, cluster: string, namespace: string): string | undefined {
  const lockdown = index.cluster(cluster)?.lockdown
  const accounts = new Set<string>()
  for (const kind of applierKinds) {
    for (const { object } of index.platformRendered(cluster, kind, namespace)) {
      const account = accountOf(object, lockdown)
      if (account) accounts.add(account)
    }
  }
  const [only] = accounts
  return accounts.size === 1 ? only : undefined
}

/** The one account that the platform renders in a namespace; undefined where it renders none, or several. */
function soleAccount(index: FleetIndex, cluster: string, namespace: string): string | undefined {
  const rendered = index.platformRendered(cluster, '/ServiceAccount', namespace)
  const names = new Set(rendered.map(({ object }) => idOf(object).name).filter(name => name !== 'default'))
  const [only] = names
  return names.size === 1 ? only : undefined
}
