import { originAt, stringAt } from '../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../kube/object.ts'
import { controllerFlags, featureGate, flagsOf, isOn } from './controller-flags.ts'
import type { FluxController, FluxInstallation, Lockdown } from './fleet.ts'
import { installedFlux } from './flux-instance.ts'

/** Nothing is locked down: Flux's own defaults. */
export const OPEN: Lockdown = { noCrossNamespaceRefs: false, noRemoteBases: false }

/** The controllers that apply what tenants write; both must refuse references across namespaces, where installed. */
const REFERRING = ['kustomize-controller', 'helm-controller']
const OTHERS = [
  'notification-controller',
  'image-reflector-controller',
  'image-automation-controller',
  'source-watcher',
]

/**
 * Flux's multi-tenancy flags as the rendered Deployments of a cluster set them, or as the FluxInstance among the objects
 * makes the operator set them; undefined where there is neither. Throws what the patches of a FluxInstance throw.
 */
export function readLockdown(
  objects: readonly KubeObject[],
  from: 'deployments' | 'patches' = 'deployments',
): Lockdown | undefined {
  const written = readDeployments(objects, from, undefined)
  if (written) return written
  const installed = installedFlux(objects)
  return installed && readDeployments(installed.objects, 'flux-instance', installed.version)
}

function readDeployments(
  objects: readonly KubeObject[],
  from: FluxInstallation['from'],
  version: string | undefined,
): Lockdown | undefined {
  const deployments = new Map<string, KubeObject>()
  for (const object of objects) {
    const { apiVersion, kind, name } = idOf(object)
    if (kind === 'Deployment' && groupOf(apiVersion) === 'apps') deployments.set(name, object)
  }
  const controller = deployments.get('kustomize-controller')
  if (!controller) return undefined
  const kustomize = controllerFlags(controller)
  const helm = deployments.get('helm-controller')
  const present = REFERRING.flatMap(name => deployments.get(name) ?? []).map(controllerFlags)
  const account = kustomize.get('default-service-account')
  const helmAccount = helm && controllerFlags(helm).get('default-service-account')
  const label = stringAt(controller.root, ['metadata', 'labels', 'app.kubernetes.io/version'])
  const strict = featureGate(kustomize, 'StrictPostBuildSubstitutions') ?? isStrictByDefault(version ?? label)
  const written = version ?? label
  return {
    noCrossNamespaceRefs: present.every(one => isOn(one.get('no-cross-namespace-refs'))),
    noRemoteBases: isOn(kustomize.get('no-remote-bases')),
    ...(account ? { defaultServiceAccount: account } : {}),
    ...(helmAccount ? { helmDefaultServiceAccount: helmAccount } : {}),
    ...(strict ? {} : { strictSubstitution: false }),
    flux: { from, ...(written === undefined ? {} : { version: written }), controllers: controllersOf(deployments) },
  }
}

/** Every controller of Flux. */
const CONTROLLERS = [...REFERRING, 'source-controller', ...OTHERS]

function controllersOf(deployments: ReadonlyMap<string, KubeObject>): FluxController[] {
  return CONTROLLERS.flatMap(name => {
    const deployment = deployments.get(name)
    if (!deployment) return []
    return [{ name, origin: originAt(deployment.root, ['metadata', 'name']), flags: flagsOf(deployment) }]
  })
}

/** Flux is strict about variables from 2.9 on; of a version that cannot be told the stricter is taken. */
function isStrictByDefault(version: string | undefined): boolean {
  const minor = /^[~^=\s]*v?2\.(\d+)(?:\.|$|-)/.exec(version?.trim() ?? '')?.[1]
  const isOpen = version?.trim().startsWith('^') ?? false
  return minor === undefined || isOpen || Number(minor) >= 9
}
