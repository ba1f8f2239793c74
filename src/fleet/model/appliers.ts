import { at, type Node, stringAt } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import type { Lockdown } from './fleet.ts'
import { isBlank } from './read-spec.ts'

/** Where each of these kinds names the account that it acts as. */
export const ACCOUNT_FIELD = ['spec', 'serviceAccountName']
/** Where each of these kinds names the cluster that it acts on. */
export const KUBECONFIG_FIELD = ['spec', 'kubeConfig']

/** The account that is taken where an object names none; undefined: the controller acts as itself. */
type Fallback = (lockdown: Lockdown) => string | undefined

const NONE: Fallback = () => undefined

/**
 * Kinds that a controller applies as an account of their own namespace, by `<group>/<Kind>`. The runner of a Terraform
 * object is never the controller: its account is `tf-runner` where none is written (tofu-controller, api/v1alpha2).
 */
const APPLIERS: ReadonlyMap<string, Fallback> = new Map<string, Fallback>([
  ['kustomize.toolkit.fluxcd.io/Kustomization', lockdown => lockdown.defaultServiceAccount],
  ['helm.toolkit.fluxcd.io/HelmRelease', lockdown => lockdown.helmDefaultServiceAccount],
  ['fluxcd.controlplane.io/ResourceSet', NONE],
  ['infra.contrib.fluxcd.io/Terraform', () => 'tf-runner'],
  ['gitops.kluctl.io/KluctlDeployment', NONE],
  ['cue.contrib.flux.io/CueInstance', NONE],
])

export const applierKinds: readonly string[] = [...APPLIERS.keys()]

/** The account that an object is applied as where it names none; undefined: the controller's own. */
export function fallbackAccount(object: KubeObject, lockdown: Lockdown | undefined): string | undefined {
  const { apiVersion, kind } = idOf(object)
  return lockdown && APPLIERS.get(`${groupOf(apiVersion)}/${kind}`)?.(lockdown)
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
