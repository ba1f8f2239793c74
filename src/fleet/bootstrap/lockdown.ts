import { installedRbac, isInstalledRbac, type Manifest } from '../../flux/installed-rbac.ts'
import { fluxMinor, groupsThat, ROOT_NAMESPACE } from '../../kube/flux-kinds.ts'
import { at, canonical, itemsOf, type Node, originAt, stringAt, toJson } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import type { ControllerFlag, FluxController, FluxInstallation, Lockdown } from '../model/fleet.ts'
import { nodeOf } from '../model/kustomization-spec.ts'
import { CAPSULE_GROUP } from '../tenancy/capsule.ts'
import { installedFlux } from './flux-instance.ts'

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

/** Flux is strict about variables from 2.9 on; an unknown version counts as strict. */
export function isStrictByDefault(version: string | undefined): boolean {
  // no controller was strict before Flux 2, whichever version the label gives: Flux's or the controller's
  if (/^v?0\./.test(version ?? '')) return false
  const minor = fluxMinor(version)
  return minor === undefined || minor >= 9
}

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
const REFERRING_FLAGS: ReadonlyMap<string, string> = new Map([
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
    controllers: [...REFERRING_FLAGS.keys()],
    why: controller => REFERRING_FLAGS.get(controller) ?? DEPLOYS,
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
        ? 'the controller, which is cluster-admin, applies objects without serviceAccountName itself'
        : `objects without serviceAccountName use account ${JSON.stringify(now)} of their namespace`,
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

/** The flags of Flux's controllers that are booleans: they never take the next argument as their value. */
const BOOLEAN = new Set([
  'no-cross-namespace-refs',
  'no-remote-bases',
  'watch-all-namespaces',
  'enable-leader-election',
  'leader-election-release-on-cancel',
  'insecure-kubeconfig-exec',
  'insecure-kubeconfig-tls',
  'insecure-allow-http',
])

/**
 * The flags that a workload starts a controller with, as pflag reads them: `--flag value` and `--flag=value`, in their order.
 * None where it is unknown what runs: another command, or an argument that a variable makes (`$(NAME)`), which may be
 * any flag.
 */
function flagsOf(workload: KubeObject, controller: string): readonly ControllerFlag[] {
  const args = argumentsOf(managerOf(workload, controller), controller)
  const texts = args.map(item => (item.type === 'scalar' ? String(item.value) : ''))
  const flags: ControllerFlag[] = []
  for (let index = 0; index < texts.length; index++) {
    const arg = texts[index]!
    if (arg === '--') break
    if (isUnknownFlag(arg)) return []
    if (!arg.startsWith('--')) continue
    const { origin } = args[index]!
    const equals = arg.indexOf('=')
    const name = arg.slice(2, equals < 0 ? undefined : equals)
    let value = 'true'
    if (equals >= 0) value = arg.slice(equals + 1)
    else if (!BOOLEAN.has(name)) value = texts[++index] ?? ''
    flags.push({ name, value, origin })
  }
  return flags
}

/** The container that runs the controller: by its image, else the one that Flux calls `manager`, else the first. */
function managerOf({ root }: KubeObject, controller: string): Node | undefined {
  const items = itemsOf(at(root, ['spec', 'template', 'spec', 'containers']))
  const isItsImage = (item: Node) => imageName(stringAt(item, ['image']) ?? '') === controller
  return items.find(isItsImage) ?? items.find(item => stringAt(item, ['name']) === 'manager') ?? items[0]
}

const imageName = (image: string) =>
  image
    .replace(/@.*$/, '')
    .replace(/:[^/]*$/, '')
    .split('/')
    .at(-1)

/** Flux's images start their controller by themselves; a command of its own has to start it with the arguments behind it. */
function argumentsOf(container: Node | undefined, controller: string): readonly Node[] {
  const [command, args] = ['command', 'args'].map(field => {
    return itemsOf(at(container, [field]))
  }) as [readonly Node[], readonly Node[]]
  if (command.length === 0) return args
  const texts = command.map(item => stringAt(item, []) ?? '')
  const start = texts.findIndex(text => text.split('/').at(-1) === controller)
  const isPlain =
    start === 0 || (texts[0]!.split('/').at(-1) === 'tini' && texts.slice(1, start).every(one => one === '--'))
  return start >= 0 && isPlain ? [...command.slice(start + 1), ...args] : []
}

/** A variable in the value of a flag is an unknown value; in its name it may be any flag. */
const isUnknownFlag = (text: string) => /^[^=]*(?<!\$)\$\(/.test(text) && !/^--[a-z-]+=/.test(text)

/** The flags by name: the last one of a name wins, except that feature gates add up. */
export function flagMap(flags: readonly ControllerFlag[]): ReadonlyMap<string, string> {
  const map = new Map<string, string>()
  for (const { name, value } of flags) {
    const before = name === 'feature-gates' ? map.get(name) : undefined
    map.set(name, before === undefined ? value : `${before},${value}`)
  }
  return map
}

/** The same by name. */
export const controllerFlags = (workload: KubeObject, controller: string): ReadonlyMap<string, string> =>
  flagMap(flagsOf(workload, controller))

/** Whether a boolean flag is on, in the spellings of Go's strconv.ParseBool. */
export function isOn(value: string | undefined): boolean {
  return value !== undefined && ['1', 't', 'T', 'TRUE', 'true', 'True'].includes(value)
}

/** What `--feature-gates` says about a gate; undefined where it says nothing. */
export function featureGate(flags: ReadonlyMap<string, string>, gate: string): boolean | undefined {
  const pairs = (flags.get('feature-gates') ?? '').split(',').map(pair => pair.trim().split('='))
  const last = pairs.findLast(([name]) => name?.trim() === gate)
  return last && isOn(last[1]?.trim())
}

/** Every controller of Flux; the first two apply what tenants write. */
const FLUX_CONTROLLERS: readonly string[] = [
  'kustomize-controller',
  'helm-controller',
  'source-controller',
  'notification-controller',
  'image-reflector-controller',
  'image-automation-controller',
  'source-watcher',
]

/** A workload that runs a controller of Flux: the installed one, or another instance of it such as a shard. */
interface RunningController {
  readonly name: string
  /** Which controller it runs. */
  readonly runs: string
  readonly object: KubeObject
}

const WORKLOADS = new Set(['Deployment', 'StatefulSet', 'DaemonSet'])

/**
 * What runs controllers of Flux among the objects of a cluster, those of an installation before others; nothing where
 * kustomize-controller is not installed there. Every instance acts with the same rights, whatever its name: shards are
 * Deployments called `<controller>-<shard>` (fluxcd.io/flux/installation/configuration/sharding). An instance is known by
 * its name beside the installed one, and anywhere by Flux's image.
 */
function fluxControllers(objects: readonly KubeObject[]): RunningController[] {
  const workloads = objects.filter(isWorkload)
  const mains = workloads.filter(object => idOf(object).name === 'kustomize-controller')
  const main = mains.find(object => idOf(object).namespace === 'flux-system') ?? mains.at(-1)
  if (!main) return []
  const home = idOf(main).namespace
  const found = workloads.flatMap((object): RunningController[] => {
    const { namespace, name } = idOf(object)
    const runs = controllerRunBy(object, mains.includes(object) ? namespace : home)
    if (runs === undefined) return []
    return [{ name: namespace === home ? name : `${namespace}/${name}`, runs, object }]
  })
  const rank = ({ name, runs }: RunningController) => FLUX_CONTROLLERS.indexOf(runs) * 2 + (name === runs ? 0 : 1)
  return found.sort((a, b) => rank(a) - rank(b))
}

/** Which controller of Flux a workload runs, where Flux's own are installed in `home`; undefined for everything else. */
export function controllerRunBy(workload: KubeObject, home: string): string | undefined {
  const { namespace, name } = idOf(workload)
  return imageOf(workload) ?? (namespace === home ? namedBy(name) : undefined)
}

function isWorkload(object: KubeObject): boolean {
  const { apiVersion, kind } = idOf(object)
  return WORKLOADS.has(kind) && groupOf(apiVersion) === 'apps'
}

/** The controller whose name it has, or whose name it continues. */
const namedBy = (name: string) => FLUX_CONTROLLERS.find(one => name === one || name.startsWith(`${one}-`))

/** The controller whose image one of its containers has: `<registry>/fluxcd/<controller>`, also in a mirror. */
function imageOf({ root }: KubeObject): string | undefined {
  const containers = at(root, ['spec', 'template', 'spec', 'containers'])
  const images = containers?.type === 'list' ? containers.items.map(item => stringAt(item, ['image']) ?? '') : []
  for (const image of images) {
    const name = /(?:^|\/)fluxcd\/([a-z-]+)(?:[:@]|$)/.exec(image)?.[1]
    if (name !== undefined && FLUX_CONTROLLERS.includes(name)) return name
  }
  return undefined
}

/** Groups whose every object restricts users, names who acts, or limits what Flux may do. */
const GROUPS: ReadonlySet<string> = new Set([
  CAPSULE_GROUP,
  'rbac.authorization.k8s.io',
  'admissionregistration.k8s.io',
  'kyverno.io',
  'policies.kyverno.io',
  'networking.k8s.io',
  'cilium.io',
  'crd.projectcalico.org',
  'projectcalico.org',
  'policy.networking.k8s.io',
  'templates.gatekeeper.sh',
  'constraints.gatekeeper.sh',
  ...groupsThat(row => row.applies ?? row.source ?? row.makesSources ?? row.configuresFlux),
])

/** The same of kinds whose group holds others besides, as `<group>/<Kind>`. */
const KINDS: ReadonlySet<string> = new Set([
  '/Namespace',
  '/ServiceAccount',
  '/ResourceQuota',
  '/LimitRange',
  'apiextensions.k8s.io/CustomResourceDefinition',
  'scheduling.k8s.io/PriorityClass',
])

/**
 * Whether an object may confine a tenant or name an account that acts for one. Where a build may show other fields of it
 * than the cluster has, the fields of the last complete build count as well.
 */
export function isRestricting(object: KubeObject): boolean {
  const { apiVersion, kind, namespace } = idOf(object)
  const group = groupOf(apiVersion)
  // the flags of Flux's controllers
  if (kind === 'Deployment') return namespace === ROOT_NAMESPACE
  return GROUPS.has(group) || KINDS.has(`${group}/${kind}`)
}
