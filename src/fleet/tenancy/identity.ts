import { BailiwickError } from '../../errors.ts'
import { ACCOUNT_FIELD } from '../../flux/kinds.ts'
import { isSubdomain } from '../../kube/names.ts'
import { originAt, stringAt } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import type { Identity, Lockdown } from '../model/fleet.ts'
import { readServiceAccount } from '../model/read-spec.ts'

/** Flux's own account: it applies what names no account where no lockdown holds. It is bound to cluster-admin. */
export const CONTROLLER: Identity = {
  user: 'system:serviceaccount:flux-system:kustomize-controller',
  impersonated: false,
}

/**
 * Who applies a Kustomization: the account it names, else the default of the cluster's lockdown, else Flux's controller
 * itself. Throws `invalid-object` for a name that is none. A blank name is left to the rule `sa-required` for a tenant.
 */
export function identityOf(
  object: KubeObject,
  namespace: string,
  tenant: string | undefined,
  lockdown: Lockdown,
): Identity {
  const path = ACCOUNT_FIELD
  const written = stringAt(object.root, path)
  if (written !== undefined && written !== '' && written.trim() === '') {
    if (tenant !== undefined) return CONTROLLER
    const details = {
      origin: originAt(object.root, path),
      fix: 'Set spec.serviceAccountName to a service account, or remove the field.',
    }
    throw new BailiwickError('invalid-object', 'spec.serviceAccountName: blank', details)
  }
  const name = readServiceAccount(object) ?? lockdown.defaultServiceAccount
  if (!name) return CONTROLLER
  if (!isSubdomain(name)) {
    const details = {
      origin: originAt(object.root, path),
      fix: 'Correct --default-service-account of kustomize-controller.',
    }
    throw new BailiwickError('invalid-object', '--default-service-account: not a valid name', details)
  }
  return { user: `system:serviceaccount:${namespace}:${name}`, impersonated: true }
}
