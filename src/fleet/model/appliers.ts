import { ACCOUNT_FIELD, KUBECONFIG_FIELD, valuesOf } from '../../flux/kinds.ts'
import { at, type Node, stringAt } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import type { Lockdown } from './fleet.ts'
import { isBlank } from './read-spec.ts'

/** Kinds that a controller applies as an account of their own namespace, by `<group>/<Kind>`. */
const APPLIERS = valuesOf(row => row.applies)

export const applierKinds: readonly string[] = [...APPLIERS.keys()]

/** The account that an object is applied as where it names none; undefined: the controller's own. */
export function fallbackAccount(object: KubeObject, lockdown: Lockdown | undefined): string | undefined {
  const { apiVersion, kind } = idOf(object)
  const fallback = APPLIERS.get(`${groupOf(apiVersion)}/${kind}`)?.fallback
  if (lockdown === undefined || fallback === undefined) return undefined
  return typeof fallback === 'string' ? lockdown[fallback] : fallback.account
}

/** The account of its own namespace that an object is applied as; undefined: the controller's own. */
export function accountOf(object: KubeObject, lockdown: Lockdown | undefined): string | undefined {
  const written = at(object.root, ACCOUNT_FIELD)
  return isBlank(written) ? fallbackAccount(object, lockdown) : stringAt(object.root, ACCOUNT_FIELD)
}

/** What an object says about the cluster that it acts on; undefined where that is its own. */
export function kubeConfigOf(object: KubeObject): Node | undefined {
  const found = at(object.root, KUBECONFIG_FIELD)
  return isBlank(found) ? undefined : found
}

/** The user is no account, but whoever a kubeconfig says; see remoteClusterOf. */
export const actsAsKubeConfig = (user: string): boolean => user.startsWith('kubeconfig ')
