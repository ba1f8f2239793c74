import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { sourceKey } from '../../../facts/repository-authors.ts'
import { identityPart, objectPart, quoted } from '../../../facts/shown.ts'
import type { FleetNode } from '../../../fleet/model/fleet.ts'
import { TENANT_LABEL } from '../../../fleet/tenancy/tenancy.ts'
import { ACCOUNT_FIELD } from '../../../flux/kinds.ts'
import { codeWord, message } from '../../../message/message.ts'
import { ownerRemoved } from '../../capsule/support/owner-removed.ts'
import type { RuleContext, Violation } from '../../model/rule.ts'

/**
 * What acted for a tenant before a change and would act for the platform after it: a lost label, or a Kustomization moved
 * out of the tenant's namespace, would free the tenant of every rule without a word.
 */
export function lostConfinement(node: FleetNode, context: RuleContext): Violation | undefined {
  const { index, before } = context
  if (!before) return undefined
  // one that is a tenant's only because it was before the change has lost it
  const former = index.cluster(node.cluster)?.formerOwners?.get(node.namespace)
  if ((node.tenant !== undefined && former === undefined) || node.parent === undefined) return undefined
  const was = before.node(node.key)
  const known = new Set(was && keysOf(was))
  const author = keysOf(node).find(key => !known.has(key) && before.authorOf(key) !== undefined)
  const tenant = was?.tenant ?? (author === undefined ? undefined : before.authorOf(author))
  if (tenant === undefined || ownerRemoved(context, node.cluster, tenant)) return undefined
  const found = violation(node, tenant, was?.tenant !== undefined, index)
  if (!was || !before.cluster(node.cluster)?.delegates?.has(was.identity.user)) return found
  const fix = message`Set ${codeWord('spec.serviceAccountName')} to an account with rights only in the namespaces of tenant ${quoted('tenant', tenant)}, or remove its other rights.`
  return { ...found, object: node.kustomization, path: ACCOUNT_FIELD, fix }
}

/** What a node follows, and what that includes. */
const keysOf = ({ source }: FleetNode): string[] => [source, ...(source.includes ?? [])].map(sourceKey)

function violation(node: FleetNode, tenant: string, stayed: boolean, index: FleetIndex): Violation {
  const label = stayed ? index.platformObject(node.cluster, '/Namespace', '', node.namespace) : undefined
  const who = objectPart('Kustomization', node.namespace, node.name)
  const what = stayed ? 'it acted for' : 'what it follows belonged to'
  return {
    node,
    object: label ?? node.kustomization,
    path: label ? TENANT_LABEL : ['spec', 'sourceRef'],
    value: `unconfined ${node.namespace}/${node.name} ${tenant}`,
    message: message`${who} would become the platform's, applied by ${identityPart(node.identity)}: before this change ${what} tenant ${quoted('tenant', tenant)}, and no tenancy rule would apply to it. Allowed: a namespace with the tenant's label toolkit.fluxcd.io/tenant, or an account that may write in the tenant's namespaces only. Flux accepts it.`,
    fix: message`Keep the label toolkit.fluxcd.io/tenant: ${quoted('tenant', tenant)} on the namespace of the Kustomization, or remove the tenant in a separate change.`,
  }
}
