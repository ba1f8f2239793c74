import type { FluxInstallation } from '../model/fleet.ts'
import { flagMap, isOn } from './controller-flags.ts'

/** What keeps tenants apart and is switched on by a flag, and the controllers that know it. */
export interface LockdownFlag {
  readonly name: string
  /** Whether it takes a value instead of being on or off. */
  readonly text?: true
  readonly controllers: readonly string[]
  /** What follows for a controller; `now`: the value that it has then, '' for none. */
  readonly why: (controller: string, now: string) => string
}

const DEPLOYS =
  "an object of one namespace may name a source of another and deploy from it, with that one's credentials"
/** What objects of one namespace may do with those of another, by the controller that acts on them. */
const REFERRING: ReadonlyMap<string, string> = new Map([
  ['kustomize-controller', DEPLOYS],
  ['helm-controller', DEPLOYS],
  [
    'notification-controller',
    'an Alert may send events of another namespace, and a Receiver may trigger objects of it',
  ],
  ['image-reflector-controller', 'an ImagePolicy may use an ImageRepository of another namespace'],
  [
    'image-automation-controller',
    "an ImageUpdateAutomation may push with a GitRepository of another namespace, with that one's credentials",
  ],
  ['source-watcher', 'an ArtifactGenerator may copy from sources of another namespace'],
])

/** Flux's multi-tenancy lockdown (fluxcd.io/flux/installation/configuration/multitenancy). */
export const LOCKDOWN_FLAGS: readonly LockdownFlag[] = [
  {
    name: 'no-cross-namespace-refs',
    controllers: [...REFERRING.keys()],
    why: controller => REFERRING.get(controller) ?? DEPLOYS,
  },
  {
    name: 'no-remote-bases',
    controllers: ['kustomize-controller'],
    why: () => 'a kustomization may load bases from anywhere, past every review',
  },
  {
    name: 'default-service-account',
    text: true,
    controllers: ['kustomize-controller', 'helm-controller'],
    why: (_, now) =>
      now === ''
        ? 'what names no service account is applied by the controller itself, which is cluster-admin'
        : `what names no service account is applied as account ${JSON.stringify(now)} of its namespace`,
  },
]

/** What weakens a controller for every tenant, if it is on. */
export const WEAKENING_FLAGS: ReadonlyMap<string, string> = new Map([
  ['insecure-kubeconfig-exec', 'a kubeconfig may run programs in the controller'],
  ['insecure-kubeconfig-tls', 'a kubeconfig may leave out the check of certificates'],
])

/** The value of a flag of lockdown, as the controller takes it: '' where it is off or not there. */
export function lockdownValue(flags: ReadonlyMap<string, string>, flag: LockdownFlag): string {
  const value = flags.get(flag.name)
  if (flag.text) return value ?? ''
  return isOn(value) ? 'true' : ''
}

/** The flags of each controller by its name. */
export function flagsByController(
  flux: FluxInstallation | undefined,
): ReadonlyMap<string, ReadonlyMap<string, string>> {
  return new Map((flux?.controllers ?? []).map(({ name, flags }) => [name, flagMap(flags)]))
}

/** The controllers that are certainly there: patches name also what may not be installed. */
export function installedControllers({ from, controllers }: FluxInstallation): string[] {
  const certain = new Set(['kustomize-controller', 'helm-controller', 'notification-controller'])
  return controllers
    .filter(({ name, runs }) => from === 'deployments' || runs !== undefined || certain.has(name))
    .map(({ name }) => name)
}

/** Which controller each instance runs, by its name. */
export const controllersByName = (flux: FluxInstallation | undefined): ReadonlyMap<string, string> =>
  new Map((flux?.controllers ?? []).map(({ name, runs }) => [name, runs ?? name]))
