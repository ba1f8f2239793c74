import type { FleetNode, Lockdown } from '../../fleet/fleet.ts'
import { isBlank } from '../../fleet/read-spec.ts'
import { at, stringAt } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import type { Breach, Rule, RuleContext } from '../rule.ts'
import { shown, shownObject } from '../shown.ts'

const FIELD = ['spec', 'serviceAccountName']

/** Kinds that a controller applies as the account that they name, and as itself where they name none. */
const APPLIED_AS = new Map<string, (lockdown: Lockdown) => string | undefined>([
  ['kustomize.toolkit.fluxcd.io/Kustomization', lockdown => lockdown.defaultServiceAccount],
  ['helm.toolkit.fluxcd.io/HelmRelease', lockdown => lockdown.helmDefaultServiceAccount],
  ['fluxcd.controlplane.io/ResourceSet', () => undefined],
])

/** A tenant's Kustomization, HelmRelease or ResourceSet must name the account it acts as, or it acts as the controller. */
export const saRequired: Rule = {
  id: 'sa-required',
  severity: 'critical',
  title: 'What acts for a tenant names its service account',
  why: 'A Kustomization, HelmRelease or ResourceSet that names no service account is applied by the controller itself, which is cluster-admin, or by a default account that the fleet does not know.',
  docs: "Set `spec.serviceAccountName` to the tenant's reconciler account, in the object or through a patch of the Kustomization that renders it. Absent is fine only where the cluster's `--default-service-account` names an account that the fleet renders in that namespace.",
  kinds: [...APPLIED_AS.keys()],
  *checkObject({ object, node }, { index }) {
    const breach = judge(index, node, object)
    if (breach) yield breach
  },
}

function judge(index: RuleContext['index'], node: FleetNode, object: KubeObject): Breach | undefined {
  const { apiVersion, kind, namespace, name } = idOf(object)
  const defaultOf = APPLIED_AS.get(`${groupOf(apiVersion)}/${kind}`)
  if (!defaultOf || !isBlank(at(object.root, FIELD))) return undefined
  if (index.actsFor(node, object) === undefined) return undefined
  const written = stringAt(object.root, FIELD) ?? ''
  const lockdown = index.cluster(node.cluster)?.lockdown
  const account = lockdown && defaultOf(lockdown)
  const isKnown = account && index.platformObject(node.cluster, '/ServiceAccount', namespace, account) !== undefined
  if (isKnown && written === '') return undefined
  return {
    node: index.nodeOf(node.cluster, object) ?? node,
    renderedBy: node,
    object,
    path: FIELD,
    value: written,
    message: `${shownObject(kind, namespace, name)} names no service account${written && ` (${shown(written)})`}: ${asWhom(account, namespace)}. Allowed is an account of its own namespace.`,
    fix: `Set spec.serviceAccountName to the reconciler account of namespace ${shown(namespace)}.`,
  }
}

function asWhom(account: string | undefined, namespace: string): string {
  if (!account) return 'Flux would apply it as the controller itself (cluster-admin)'
  return `Flux would apply it as the default account ${shown(account)}, which the fleet does not render in namespace ${shown(namespace)}`
}
