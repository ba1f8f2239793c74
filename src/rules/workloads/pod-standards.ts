import { isNull, type Node, type Path } from '../../kube/node.ts'
import { isOff, isUnset, isZero, textOf } from '../model/object-values.ts'

const SAFE_SYSCTLS = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.ping_group_range',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_rmem',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.tcp_wmem',
]

const DEFAULT_CAPABILITIES = new Set(
  'AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID SYS_CHROOT'.split(
    ' ',
  ),
)

const RESTRICTED_VOLUMES =
  'gcePersistentDisk awsElasticBlockStore gitRepo nfs iscsi glusterfs rbd flexVolume cinder cephfs flocker fc azureFile vsphereVolume quobyte azureDisk portworxVolume photonPersistentDisk scaleIO storageos'.split(
    ' ',
  )

const hostFlag = (name: string) => only([name], isOff, 'baseline', 'host namespaces', 'false')
const PROFILES = ['RuntimeDefault', 'Localhost']

// Source of all of them: k8s.io/pod-security-admission/policy of Kubernetes 1.36.
const POD_REQUIREMENTS: readonly PodRequirement[] = [
  ...['hostNetwork', 'hostPID', 'hostIPC'].map(hostFlag),
  only(['volumes', '*', 'hostPath'], isNull, 'baseline', 'hostPath volumes', 'another kind of volume'),
  // of virtual machines: a file of the node as a disk
  only(['volumes', '*', 'hostDisk'], isNull, 'baseline', 'hostPath volumes', 'another kind of volume'),
  ...RESTRICTED_VOLUMES.map(type =>
    only(['volumes', '*', type], isNull, 'restricted', 'restricted volume types', 'a PersistentVolumeClaim'),
  ),
  oneOf(['securityContext', 'sysctls', '*', 'name'], SAFE_SYSCTLS, 'baseline', 'forbidden sysctls'),
  only(
    ['volumes', '*', 'projected', 'sources', '*', 'serviceAccountToken', 'audience'],
    isUnset,
    'unusual',
    'a token for another system',
    'no audience (the API server)',
  ),
]

const CONTEXT_REQUIREMENTS: readonly PodRequirement[] = [
  only(['privileged'], isOff, 'baseline', 'privileged', 'false'),
  only(['windowsOptions', 'hostProcess'], isOff, 'baseline', 'hostProcess', 'false'),
  {
    path: ['procMount'],
    breaks: (node, inUserNamespace) => {
      if (isNull(node) || textOf(node) === 'Default') return undefined
      return inUserNamespace ? 'restricted' : 'baseline'
    },
    reason: 'procMount',
    allowed: 'Default or nothing',
  },
  {
    path: ['capabilities', 'add', '*'],
    breaks: node => {
      const name = textOf(node) ?? ''
      if (name === 'NET_BIND_SERVICE') return undefined
      return DEFAULT_CAPABILITIES.has(name) ? 'restricted' : 'baseline'
    },
    reason: 'non-default capabilities',
    allowed: 'NET_BIND_SERVICE',
  },
  oneOf(
    ['seLinuxOptions', 'type'],
    ['', 'container_t', 'container_init_t', 'container_kvm_t', 'container_engine_t'],
    'baseline',
    'seLinuxOptions',
  ),
  only(['seLinuxOptions', 'user'], isUnset, 'baseline', 'seLinuxOptions', 'nothing'),
  only(['seLinuxOptions', 'role'], isUnset, 'baseline', 'seLinuxOptions', 'nothing'),
  oneOf(['seccompProfile', 'type'], PROFILES, 'baseline', 'seccompProfile'),
  oneOf(['appArmorProfile', 'type'], PROFILES, 'baseline', 'forbidden AppArmor profile'),
  only(['allowPrivilegeEscalation'], isOff, 'restricted', 'allowPrivilegeEscalation != false', 'false'),
  {
    path: ['runAsUser'],
    breaks: (node, inUserNamespace) => (isZero(node) && !inUserNamespace ? 'restricted' : undefined),
    reason: 'runAsUser=0',
    allowed: 'a user other than root',
  },
  {
    path: ['runAsNonRoot'],
    breaks: (node, inUserNamespace) => (!isNull(node) && isOff(node) && !inUserNamespace ? 'restricted' : undefined),
    reason: 'runAsNonRoot != true',
    allowed: 'true',
  },
]

const HANDLERS: readonly Path[] = [
  ['livenessProbe'],
  ['readinessProbe'],
  ['startupProbe'],
  ['lifecycle', 'postStart'],
  ['lifecycle', 'preStop'],
]

const CONTAINER_REQUIREMENTS: readonly PodRequirement[] = [
  only(['ports', '*', 'hostPort'], node => isUnset(node) || isZero(node), 'baseline', 'hostPort', 'no hostPort'),
  ...HANDLERS.flatMap(handler =>
    ['httpGet', 'tcpSocket'].map(how =>
      only([...handler, how, 'host'], isUnset, 'baseline', 'probe or lifecycle host', 'the pod itself, so no host'),
    ),
  ),
  only(
    ['imagePullPolicy'],
    node => textOf(node) !== 'Never',
    'unusual',
    'an image that another pod pulled with other credentials',
    'Always or IfNotPresent',
  ),
]

const ofContext = CONTEXT_REQUIREMENTS.map(requirement => ({
  ...requirement,
  path: ['securityContext', ...requirement.path],
}))

/** Checked for the spec of a pod. */
export const POD_TREE = requirementTree([...POD_REQUIREMENTS, ...ofContext])
/** Checked for each container, also init, sidecar and ephemeral ones. */
export const CONTAINER_TREE = requirementTree([...CONTAINER_REQUIREMENTS, ...ofContext])
/** Checked for a `securityContext` by itself. */
export const CONTEXT_TREE = requirementTree(CONTEXT_REQUIREMENTS)
/** Checked for maps that may be either, in kinds of other controllers. */
export const ANY_TREE = requirementTree([...POD_REQUIREMENTS, ...CONTAINER_REQUIREMENTS, ...ofContext])

/** Requirements by the steps of their paths, so that an object is walked once for all of them. */
export interface RequirementTree {
  readonly requirements: readonly PodRequirement[]
  readonly steps: ReadonlyMap<string, RequirementTree>
}

/** A field with a requirement, below the node that was walked. */
export interface Asked {
  readonly path: Path
  readonly node: Node
  readonly requirement: PodRequirement
}

/** Makes a tree of requirements; done once, at program start. */
function requirementTree(requirements: readonly PodRequirement[], depth = 0): RequirementTree {
  const here = requirements.filter(({ path }) => path.length === depth)
  const below = Map.groupBy(
    requirements.filter(({ path }) => path.length > depth),
    ({ path }) => String(path[depth]),
  )
  return {
    requirements: here,
    steps: new Map([...below].map(([step, list]) => [step, requirementTree(list, depth + 1)])),
  }
}

/** The fields of a node that have requirements, where they are set. */
export function* askedOf(node: Node, tree: RequirementTree, path: Path = []): Iterable<Asked> {
  for (const requirement of tree.requirements) yield { path, node, requirement }
  if (tree.steps.size === 0 || node.type === 'scalar') return
  if (node.type === 'list') {
    const each = tree.steps.get('*')
    if (each) for (const [index, item] of node.items.entries()) yield* askedOf(item, each, [...path, index])
    return
  }
  for (const [key, { value }] of node.fields) {
    const next = tree.steps.get(key)
    if (next && key !== '*') yield* askedOf(value, next, [...path, key])
  }
}

/** The names with which fields that have a requirement may begin. */
export const firstSteps = (tree: RequirementTree): ReadonlySet<string> => new Set(tree.steps.keys())

/**
 * `baseline`, `restricted`: the Pod Security Standards. `unusual`: in neither, but a way to what others keep for
 * themselves.
 */
export type Standard = 'baseline' | 'restricted' | 'unusual'

/** The requirement for one field, wherever it is set. Unset fields are never evaluated. */
export interface PodRequirement {
  /** Below the pod's spec, the container or its securityContext; `*` is each item of a list. */
  readonly path: Path
  /** Which standard a value breaks; undefined where it may stand. `inUserNamespace`: the pod says `hostUsers: false`. */
  breaks(node: Node, inUserNamespace: boolean): Standard | undefined
  /** What Pod Security admission calls it. */
  readonly reason: string
  /** What may stand there, for people. */
  readonly allowed: string
}

/** Requires one of a set of values. */
function oneOf(path: Path, values: readonly string[], standard: Standard, reason: string): PodRequirement {
  const known = new Set(values)
  const breaks = (node: Node) => (node.type === 'scalar' && known.has(String(node.value)) ? undefined : standard)
  return { path, breaks, reason, allowed: `${values.filter(value => value !== '').join(', ')} or nothing` }
}

/** Requires what `isFine` decides. */
function only(
  path: Path,
  isFine: (node: Node) => boolean,
  standard: Standard,
  reason: string,
  allowed: string,
): PodRequirement {
  return { path, breaks: node => (isFine(node) ? undefined : standard), reason, allowed }
}
