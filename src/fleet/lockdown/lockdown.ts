import { installedRbac, isInstalledRbac, type Manifest } from '../../flux/installed-rbac.ts'
import { fluxMinor } from '../../flux/kinds.ts'
import { canonical, type Node, originAt, stringAt, toJson } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { fluxControllers, type RunningController } from '../bootstrap/flux-controllers.ts'
import { installedFlux } from '../bootstrap/flux-instance.ts'
import type { FluxController, FluxInstallation, Lockdown } from '../model/fleet.ts'
import { nodeOf } from '../model/synthetic.ts'
import { controllerFlags, featureGate, flagsOf, isOn } from './controller-flags.ts'

/** Nothing is locked down: Flux's own defaults. */
export const OPEN: Lockdown = { noCrossNamespaceRefs: false, noRemoteBases: false }

/** The controllers that apply what tenants write; all instances must refuse references across namespaces. */
const REFERRING = new Set(['kustomize-controller', 'helm-controller'])

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
  // other instances than those that it makes stand beside it
  return installed && readDeployments([...installed.objects, ...objects], 'flux-instance', installed.version)
}

function readDeployments(
  objects: readonly KubeObject[],
  from: FluxInstallation['from'],
  version: string | undefined,
): Lockdown | undefined {
  const running = fluxControllers(objects)
  const [main] = running
  if (main?.name !== 'kustomize-controller') return undefined
  const flagsOfAll = (isMeant: (runs: string) => boolean) =>
    running.filter(({ runs }) => isMeant(runs)).map(({ object, runs }) => controllerFlags(object, runs))
  const kustomize = flagsOfAll(runs => runs === main.runs)
  const account = sameAccount(kustomize)
  const helmAccount = sameAccount(flagsOfAll(runs => runs === 'helm-controller'))
  const label = stringAt(main.object.root, ['metadata', 'labels', 'app.kubernetes.io/version'])
  const written = version ?? label
  const strict = featureGate(kustomize[0]!, 'StrictPostBuildSubstitutions') ?? isStrictByDefault(written)
  return {
    noCrossNamespaceRefs: flagsOfAll(runs => REFERRING.has(runs)).every(one =>
      isOn(one.get('no-cross-namespace-refs')),
    ),
    noRemoteBases: kustomize.every(one => isOn(one.get('no-remote-bases'))),
    ...(account ? { defaultServiceAccount: account } : {}),
    ...(helmAccount ? { helmDefaultServiceAccount: helmAccount } : {}),
    ...(strict ? {} : { strictSubstitution: false }),
    flux: {
      from,
      ...(written === undefined ? {} : { version: written }),
      controllers: running.map(controllerOf),
      ...(from === 'deployments' ? {} : patchedRbac(objects, installedRbac(version))),
    },
  }
}

/** The roles and bindings of Flux among what its placeholder renders, where patches made them others than `installed`. */
function patchedRbac(objects: readonly KubeObject[], installed: readonly Manifest[]) {
  const roots = objects.filter(one => isInstalledRbac(idOf(one).kind, idOf(one).name)).map(({ root }) => root)
  const text = (nodes: readonly Node[]) => nodes.map(canonical).sort().join('\n')
  if (text(roots) === text(installed.map(one => nodeOf(one, roots[0]?.origin ?? objects[0]!.root.origin)))) return {}
  return { rbac: roots.map(root => toJson(root) as Manifest) }
}

/** Which instance takes an object is a matter of labels that tenants write: an account is certain where all have it. */
function sameAccount(instances: readonly ReadonlyMap<string, string>[]): string | undefined {
  const [first, ...others] = instances.map(flags => flags.get('default-service-account'))
  return others.every(one => one === first) ? first : undefined
}

const controllerOf = ({ name, runs, object }: RunningController): FluxController => ({
  name,
  ...(name === runs ? {} : { runs }),
  origin: originAt(object.root, ['metadata', 'name']),
  flags: flagsOf(object, runs),
})

/** Flux is strict about variables from 2.9 on; of a version that cannot be told the stricter is taken. */
export function isStrictByDefault(version: string | undefined): boolean {
  const minor = fluxMinor(version)
  return minor === undefined || minor >= 9
}
