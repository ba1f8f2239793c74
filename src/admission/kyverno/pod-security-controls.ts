import { type ContextValue, type Fields, isFields, isList, known, valueAt } from '../jmespath/values.ts'

type Check = (pod: PodParts) => readonly Fault[]

/** A control of the Pod Security Standards and its checks by the minor Kubernetes version that introduced them. */
interface Control {
  readonly id: string
  readonly level: 'baseline' | 'restricted'
  readonly versions: readonly (readonly [since: number, check: Check])[]
}

const fault = (field: string, ...values: readonly unknown[]): Fault => ({ field, values: values.map(String) })
const ofContainers =
  (check: (container: PodContainer, place: string) => readonly Fault[]): Check =>
  pod =>
    pod.containers.flatMap(one => check(one, placeOf(one)))
const context = ({ fields }: PodContainer) => partAt(fields, 'securityContext')

/** Windows Pods are exempt since 1.25. */
const unlessWindows =
  (check: Check): Check =>
  pod =>
    textIn(partAt(pod.spec, 'os', 'name')) === 'windows' ? [] : check(pod)

/** Checks the same field of the Pod and of its containers. */
const ofBoth =
  (keys: readonly string[], check: (value: unknown) => boolean): Check =>
  pod => {
    const path = ['securityContext', ...keys]
    const places = [
      ['spec', partAt(pod.spec, ...path)] as const,
      ...pod.containers.map(one => [placeOf(one), partAt(one.fields, ...path)] as const),
    ]
    return places.flatMap(([place, value]) =>
      value !== undefined && check(value) ? [fault(`${place}.${path.join('.')}`, value)] : [],
    )
  }

/** Requires a field in every container unless the Pod sets it for all. */
const required =
  (keys: readonly string[], isGood: (value: unknown) => boolean, isImplicitAlways: boolean): Check =>
  pod => {
    const path = ['securityContext', ...keys]
    const own = partAt(pod.spec, ...path)
    const explicit = ofBoth(keys, value => !isGood(value))(pod)
    if (explicit.length > 0 && !isImplicitAlways) return explicit
    const isSet = own !== undefined && isGood(own)
    const missing = isSet ? [] : pod.containers.filter(one => partAt(one.fields, ...path) === undefined)
    return [...explicit, ...missing.map(one => fault(`${placeOf(one)}.${path.join('.')}`))]
  }

export const placeOf = ({ kind, index }: PodContainer) => `spec.${kind}[${index}]`

const escalation = ofContainers((one, place) => {
  const field = `${place}.securityContext.allowPrivilegeEscalation`
  const security = context(one)
  if (security === undefined) return [fault(field)]
  const value = partAt(security, 'allowPrivilegeEscalation')
  return value === false ? [] : [fault(field, value ?? 'nil')]
})

const ADDED = new Set(
  'AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID SYS_CHROOT'.split(
    ' ',
  ),
)
const added = (isAllowed: (name: string) => boolean) =>
  ofContainers((one, place) => {
    const list = itemsIn(partAt(context(one), 'capabilities', 'add')).map(textIn)
    const bad = [...new Set(list.filter(name => !isAllowed(name)))].sort()
    return bad.length > 0 ? [fault(`${place}.securityContext.capabilities.add`, ...bad)] : []
  })
const dropped = ofContainers((one, place) => {
  const list = itemsIn(partAt(context(one), 'capabilities', 'drop')).map(textIn)
  return list.includes('ALL') ? [] : [fault(`${place}.securityContext.capabilities.drop`, ...[...new Set(list)].sort())]
})
const capabilities: Check = pod => [...dropped(pod), ...added(name => name === 'NET_BIND_SERVICE')(withSecurity(pod))]

/** A container without `capabilities` violates only the requirement to drop capabilities. */
const withSecurity = (pod: PodParts): PodParts => ({
  ...pod,
  containers: pod.containers.filter(one => partAt(context(one), 'capabilities') !== undefined),
})

const hostNamespaces: Check = ({ spec }) =>
  ['hostNetwork', 'hostPID', 'hostIPC'].flatMap(key => (partAt(spec, key) === true ? [fault(`spec.${key}`, true)] : []))
const hostPaths: Check = ({ spec }) =>
  itemsIn(partAt(spec, 'volumes')).flatMap((volume, index) => {
    const path = partAt(volume, 'hostPath')
    return path === undefined ? [] : [fault(`spec.volumes[${index}].hostPath`, textIn(partAt(path, 'path')))]
  })
const hostPorts = ofContainers(({ fields }, place) =>
  itemsIn(partAt(fields, 'ports')).flatMap((port, index) => {
    const number = partAt(port, 'hostPort')
    return number === undefined || number === 0 ? [] : [fault(`${place}.ports[${index}].hostPort`, number)]
  }),
)

const APPARMOR = 'container.apparmor.security.beta.kubernetes.io/'
const appArmor: Check = pod => [
  ...ofBoth(['appArmorProfile', 'type'], type => type !== 'RuntimeDefault' && type !== 'Localhost')(pod),
  ...[...pod.annotations].flatMap(([key, value]) => {
    const text = textIn(value)
    const isAllowed = text === '' || text === 'runtime/default' || text.startsWith('localhost/')
    return key.startsWith(APPARMOR) && !isAllowed ? [fault(`metadata.annotations[${key}]`, text)] : []
  }),
]

const seLinux = (types: ReadonlySet<string>): Check => {
  const isBadText = (value: unknown) => typeof value === 'string' && value !== ''
  return pod => [
    ...ofBoth(['seLinuxOptions', 'type'], value => isBadText(value) && !types.has(String(value)))(pod),
    ...ofBoth(['seLinuxOptions', 'user'], isBadText)(pod),
    ...ofBoth(['seLinuxOptions', 'role'], isBadText)(pod),
  ]
}
const TYPES = ['', 'container_t', 'container_init_t', 'container_kvm_t']

const isSeccomp = (type: unknown) => type === 'RuntimeDefault' || type === 'Localhost'
const SYSCTLS: readonly (readonly [since: number, names: readonly string[]])[] = [
  [
    0,
    [
      'kernel.shm_rmid_forced',
      'net.ipv4.ip_local_port_range',
      'net.ipv4.tcp_syncookies',
      'net.ipv4.ping_group_range',
      'net.ipv4.ip_unprivileged_port_start',
    ],
  ],
  [27, ['net.ipv4.ip_local_reserved_ports']],
  [29, ['time', 'intvl', 'probes'].map(name => `net.ipv4.tcp_keepalive_${name}`).concat('net.ipv4.tcp_fin_timeout')],
  [32, ['net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem']],
]
const sysctls = (minor: number): Check => {
  const allowed = new Set(SYSCTLS.flatMap(([since, names]) => (since <= minor ? names : [])))
  return ({ spec }) =>
    itemsIn(partAt(spec, 'securityContext', 'sysctls')).flatMap((one, index) => {
      const name = textIn(partAt(one, 'name'))
      return allowed.has(name) ? [] : [fault(`spec.securityContext.sysctls[${index}].name`, name)]
    })
}

const VOLUMES = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
]
const volumes: Check = ({ spec }) =>
  itemsIn(partAt(spec, 'volumes')).flatMap((volume, index) => {
    if (VOLUMES.some(type => partAt(volume, type) !== undefined)) return []
    const type = [...fieldsIn(volume)].find(([key, value]) => key !== 'name' && isFields(value))?.[0] ?? 'unknown'
    return [fault(`spec.volumes[${index}].${type}`)]
  })

const probes = ofContainers(({ fields }) => {
  const places = [
    ...['livenessProbe', 'readinessProbe', 'startupProbe'].map(key => partAt(fields, key)),
    ...['postStart', 'preStop'].map(key => partAt(fields, 'lifecycle', key)),
  ]
  const hosts = places.flatMap(place => ['httpGet', 'tcpSocket'].map(key => textIn(partAt(place, key, 'host'))))
  // an empty field name, because no exclusion can match this fault
  return hosts.filter(host => host !== '').map(host => fault('', host))
})

const EMPTY: Fields = new Map()

/** The Pod Security Standards (k8s.io/pod-security-admission/policy). */
export const CONTROLS: readonly Control[] = [
  {
    id: 'allowPrivilegeEscalation',
    level: 'restricted',
    versions: [[0, unlessWindows(escalation)]],
  },
  { id: 'appArmorProfile', level: 'baseline', versions: [[0, appArmor]] },
  { id: 'capabilities_baseline', level: 'baseline', versions: [[0, added(name => ADDED.has(name))]] },
  {
    id: 'capabilities_restricted',
    level: 'restricted',
    versions: [[0, unlessWindows(capabilities)]],
  },
  { id: 'hostNamespaces', level: 'baseline', versions: [[0, hostNamespaces]] },
  { id: 'hostPathVolumes', level: 'baseline', versions: [[0, hostPaths]] },
  { id: 'hostPorts', level: 'baseline', versions: [[0, hostPorts]] },
  { id: 'hostProbesAndHostLifecycle', level: 'baseline', versions: [[34, probes]] },
  {
    id: 'privileged',
    level: 'baseline',
    versions: [
      [
        0,
        ofContainers((one, place) =>
          partAt(context(one), 'privileged') === true ? [fault(`${place}.securityContext.privileged`, true)] : [],
        ),
      ],
    ],
  },
  {
    id: 'procMount',
    level: 'baseline',
    versions: [
      [
        0,
        ofContainers((one, place) => {
          const value = partAt(context(one), 'procMount')
          return value === undefined || value === 'Default' ? [] : [fault(`${place}.securityContext.procMount`, value)]
        }),
      ],
    ],
  },
  { id: 'restrictedVolumes', level: 'restricted', versions: [[0, volumes]] },
  {
    id: 'runAsNonRoot',
    level: 'restricted',
    versions: [[0, required(['runAsNonRoot'], value => value === true, true)]],
  },
  { id: 'runAsUser', level: 'restricted', versions: [[0, ofBoth(['runAsUser'], value => value === 0)]] },
  {
    id: 'seLinuxOptions',
    level: 'baseline',
    versions: [
      [0, seLinux(new Set(TYPES))],
      [31, seLinux(new Set([...TYPES, 'container_engine_t']))],
    ],
  },
  {
    id: 'seccompProfile_baseline',
    level: 'baseline',
    versions: [[0, ofBoth(['seccompProfile', 'type'], type => !isSeccomp(type))]],
  },
  {
    id: 'seccompProfile_restricted',
    level: 'restricted',
    versions: [[0, unlessWindows(required(['seccompProfile', 'type'], isSeccomp, false))]],
  },
  { id: 'sysctls', level: 'baseline', versions: [0, 27, 29, 32].map(minor => [minor, sysctls(minor)] as const) },
  {
    id: 'windowsHostProcess',
    level: 'baseline',
    versions: [[0, ofBoth(['windowsOptions', 'hostProcess'], value => value === true)]],
  },
]

/** The parts of a Pod that the standards check. */
export interface PodParts {
  readonly annotations: Fields
  /** The Pod's spec without its containers. */
  readonly spec: Fields
  readonly containers: readonly PodContainer[]
}

export interface PodContainer {
  readonly kind: 'initContainers' | 'containers' | 'ephemeralContainers'
  readonly index: number
  readonly name: string
  readonly fields: Fields
}

/** A field that violates a standard; `values` are its present values. */
export interface Fault {
  readonly field: string
  readonly values: readonly string[]
}

const KINDS = ['initContainers', 'containers', 'ephemeralContainers'] as const

export function podOf(metadata: ContextValue | undefined, spec: ContextValue | undefined): PodParts {
  const fields = fieldsIn(spec)
  const containers = KINDS.flatMap(kind =>
    itemsIn(fields.get(kind)).map((item, index) => {
      const own = fieldsIn(item)
      return { kind, index, name: textIn(own.get('name')), fields: own }
    }),
  )
  return { annotations: fieldsIn(valueAt(metadata, ['annotations'])), spec: fields, containers }
}

function fieldsIn(value: ContextValue | undefined): Fields {
  const plain = known(value)
  return isFields(plain) ? plain : EMPTY
}

export function itemsIn(value: ContextValue | undefined): readonly ContextValue[] {
  const plain = known(value)
  return isList(plain) ? plain : []
}

export function textIn(value: ContextValue | undefined): string {
  const plain = known(value)
  return typeof plain === 'string' ? plain : ''
}

/** The value at a path of keys; undefined if it is absent or null. */
function partAt(value: ContextValue | undefined, ...keys: readonly string[]): ContextValue | undefined {
  const found = known(valueAt(value, keys))
  return found === null ? undefined : found
}
