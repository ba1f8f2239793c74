import { expect, test } from 'vitest'
import { fromJson } from '../../../../src/admission/jmespath/values.ts'
import { evaluatePodSecurity } from '../../../../src/admission/kyverno/pod-security.ts'
import type { Json } from '../../../../src/kube/node.ts'

const controls = (standard: Json, spec: Json, metadata: Json = {}, more: Json[] = []) =>
  evaluatePodSecurity(fromJson(standard), fromJson(metadata), fromJson(spec), more.map(fromJson)).map(
    ({ control, faults }) => `${control} ${faults.map(({ field }) => field).join(' ')}`,
  )
const baseline = { level: 'baseline', version: 'latest' }
const restricted = { level: 'restricted', version: 'v1.30' }
const SAFE = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
}
const pod = (securityContext: Json, more: { [key: string]: Json } = {}): Json => ({
  containers: [{ name: 'web', image: 'nginx', securityContext, ...more }],
})

test.each<[string, Json, Json, string[]]>([
  [
    'a privileged container',
    baseline,
    pod({ privileged: true }),
    ['privileged spec.containers[0].securityContext.privileged'],
  ],
  ['one that is not', baseline, pod({ privileged: false }), []],
  [
    'a capability',
    baseline,
    pod({ capabilities: { add: ['SYS_ADMIN', 'CHOWN'] } }),
    ['capabilities_baseline spec.containers[0].securityContext.capabilities.add'],
  ],
  [
    'a port of the host',
    baseline,
    pod({}, { ports: [{ containerPort: 1 }, { hostPort: 80 }] }),
    ['hostPorts spec.containers[0].ports[1].hostPort'],
  ],
  ['namespaces of the host', baseline, { hostPID: true, containers: [] }, ['hostNamespaces spec.hostPID']],
  [
    'a path of the host',
    baseline,
    { volumes: [{ name: 'a', hostPath: { path: '/' } }] },
    ['hostPathVolumes spec.volumes[0].hostPath'],
  ],
  [
    'a sysctl',
    baseline,
    { securityContext: { sysctls: [{ name: 'kernel.msgmax', value: '1' }] } },
    ['sysctls spec.securityContext.sysctls[0].name'],
  ],
  [
    'a sysctl of 1.29',
    { level: 'baseline', version: 'v1.28' },
    { securityContext: { sysctls: [{ name: 'net.ipv4.tcp_fin_timeout', value: '1' }] } },
    ['sysctls spec.securityContext.sysctls[0].name'],
  ],
  [
    'the same later',
    { level: 'baseline', version: 'v1.29' },
    { securityContext: { sysctls: [{ name: 'net.ipv4.tcp_fin_timeout', value: '1' }] } },
    [],
  ],
  [
    'an init container',
    baseline,
    { initContainers: [{ name: 'a', securityContext: { procMount: 'Unmasked' } }] },
    ['procMount spec.initContainers[0].securityContext.procMount'],
  ],
  [
    'a host of a probe',
    baseline,
    pod({}, { livenessProbe: { httpGet: { host: 'a' } } }),
    ['hostProbesAndHostLifecycle '],
  ],
  ['what is restricted', restricted, pod(SAFE), []],
  [
    'nothing set',
    restricted,
    pod({}),
    [
      'allowPrivilegeEscalation spec.containers[0].securityContext.allowPrivilegeEscalation',
      'capabilities_restricted spec.containers[0].securityContext.capabilities.drop',
      'runAsNonRoot spec.containers[0].securityContext.runAsNonRoot',
      'seccompProfile_restricted spec.containers[0].securityContext.seccompProfile.type',
    ],
  ],
  [
    'set for the Pod',
    restricted,
    {
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'Localhost' } },
      containers: [
        {
          name: 'a',
          securityContext: {
            allowPrivilegeEscalation: false,
            capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] },
          },
        },
      ],
    },
    [],
  ],
  ['root', restricted, pod({ ...SAFE, runAsUser: 0 }), ['runAsUser spec.containers[0].securityContext.runAsUser']],
  [
    'a volume',
    restricted,
    {
      volumes: [
        { name: 'a', nfs: { server: 'b' } },
        { name: 'b', emptyDir: {} },
      ],
    },
    ['restrictedVolumes spec.volumes[0].nfs'],
  ],
  [
    'Windows',
    restricted,
    { os: { name: 'windows' }, securityContext: { runAsNonRoot: true }, containers: [{ name: 'a' }] },
    [],
  ],
])('%s', (_what, standard, spec, found) => {
  expect(controls(standard, spec)).toEqual(found)
})

test('exclusions, and versions with other checks, are not evaluated; what has no fault passes', () => {
  const spec = pod({ ...SAFE, capabilities: { drop: ['ALL'], add: ['SYS_TIME'] } })
  const exclude = [{ controlName: 'Capabilities', images: ['nginx*'] }]
  expect(() => controls({ ...restricted, exclude }, spec)).toThrow('exclusions of podSecurity are not supported')
  expect(() => controls(restricted, spec, {}, exclude)).toThrow('exclusions of podSecurity are not supported')
  expect(controls({ ...restricted, exclude }, pod(SAFE))).toEqual([])
  // a fault of another control is one anyway
  expect(controls({ ...restricted, exclude: [{ controlName: 'Seccomp' }] }, spec)).toHaveLength(2)
  expect(() => controls({ level: 'baseline', version: 'v1.24' }, spec)).toThrow('before v1.25')
})
