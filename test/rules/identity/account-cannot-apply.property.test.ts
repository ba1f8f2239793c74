import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { FleetIndex } from '../../../src/fleet/facts/fleet-index.ts'
import { buildFleet } from '../../../src/fleet/graph/build-fleet.ts'
import type { Fleet } from '../../../src/fleet/model/fleet.ts'
import { revisionSetOf } from '../../../src/fleet/model/input.ts'
import type { Json } from '../../../src/kube/node.ts'
import { groupOf } from '../../../src/kube/object.ts'
import { userInfo } from '../../../src/kube/rbac/policy-rule.ts'
import { canI } from '../../../src/verdict/audit/who-can.ts'
import { evaluateFleet } from '../../../src/verdict/evaluate-fleet.ts'
import { definition, KINDS, objectOf } from '../../base/kube/rbac/applied-kinds.ts'
import { binding, role } from '../../base/kube/rbac/plain-object.ts'
import { fleetOf, type Given, inputOf } from '../../fleet/fleet-of.ts'
import { fleetFiles, miniFleet } from '../../fleet/mini-fleet.ts'

const SEED = Number(process.env.RIGHTS_SEED ?? 11)
const FLEETS = Number(process.env.RIGHTS_FLEETS ?? 100)
const CLUSTER = 'staging'
const ACCOUNT = 'system:serviceaccount:apps:dev-team'
const WIDGET = KINDS.find(({ kind }) => kind === 'Widget')!
/** Of a well-known operator, which the fleet may render or not. */
const CERTIFICATE = { apiVersion: 'cert-manager.io/v1', kind: 'Certificate', resource: 'certificates' }
const APPLIED = [...KINDS.filter(({ kind }) => /^(?:ConfigMap|Service|Deployment|Job|Widget)$/.test(kind)), CERTIFICATE]
const VERBS = [
  ['get', 'patch', 'create'],
  ['get', 'patch', 'create'],
  ['patch', 'create'],
  ['get', 'patch'],
  ['create', 'update'],
  ['get'],
  ['*'],
]

/** Objects of the tenant; those of few kinds, so that they meet the rules. */
const object = fc.record({
  kind: fc.constantFrom(...APPLIED),
  name: fc.constantFrom('a', 'b'),
})

const rule = object.chain(({ kind: { apiVersion, resource } }) =>
  fc.record({
    verbs: fc.constantFrom(...VERBS),
    apiGroups: fc.constantFrom<string[]>([groupOf(apiVersion)], [groupOf(apiVersion)], ['*']),
    resources: fc.constantFrom<string[]>([resource], [resource], ['*'], ['*'], [`${resource}/status`]),
    resourceNames: fc.constantFrom<string[]>([], [], [], ['a']),
  }),
)

const grant = fc.record({
  rules: fc.array(rule, { minLength: 1, maxLength: 3 }),
  roleRef: fc.constantFrom(
    'own',
    'own',
    'own',
    'own',
    'own',
    'ClusterRole view',
    'ClusterRole edit',
    'ClusterRole missing',
  ),
  subject: fc.constantFrom(
    'ServiceAccount apps/dev-team',
    'ServiceAccount apps/dev-team',
    'ServiceAccount apps/other',
    `User ${ACCOUNT}`,
    'Group system:serviceaccounts:apps',
    'Group system:authenticated',
  ),
  namespace: fc.constantFrom('apps', 'apps', 'apps', '', 'ops'),
})

/** What the platform has that is not visible, and may concern the tenant's namespace or not. */
const HIDDEN: readonly (readonly Json[])[] = [
  ...Array.from({ length: 8 }, () => []),
  hiddenKustomization('apps'),
  hiddenKustomization('monitoring'),
  [helmRelease('apps')],
  [helmRelease('monitoring')],
]

const world = fc.record({
  grants: fc.array(grant, { maxLength: 3 }),
  objects: fc.uniqueArray(object, { minLength: 1, maxLength: 3, selector: one => `${one.kind.kind} ${one.name}` }),
  /** So many of the objects are on the base too, and changed. */
  standing: fc.constantFrom(0, 0, 0, 0, 1, 2),
  hidden: fc.constantFrom(...HIDDEN),
  defined: fc.boolean(),
  /** The grants stand in a Kustomization that is suspended. */
  parked: fc.constantFrom(false, false, false, false, true),
  others: fc.constantFrom(true, true, true, true, false),
})
type World = typeof world extends fc.Arbitrary<infer T> ? T : never

function hiddenKustomization(targetNamespace: string): Json[] {
  const metadata = { name: 'hidden', namespace: 'flux-system' }
  const sourceRef = { kind: 'GitRepository', name: 'hidden' }
  const spec = { interval: '1h', path: './all', prune: true, sourceRef, targetNamespace }
  const source = { interval: '1h', url: 'https://github.com/acme/hidden', ref: { branch: 'main' } }
  return [
    { apiVersion: 'source.toolkit.fluxcd.io/v1', kind: 'GitRepository', metadata, spec: source },
    {
      apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
      kind: 'Kustomization',
      metadata,
      spec: { ...spec, serviceAccountName: 'kustomize-controller' },
    },
  ]
}

function helmRelease(targetNamespace: string): Json {
  const chart = { spec: { chart: 'a', version: '1.0.0', sourceRef: { kind: 'HelmRepository', name: 'a' } } }
  return {
    apiVersion: 'helm.toolkit.fluxcd.io/v2',
    kind: 'HelmRelease',
    metadata: { name: 'a', namespace: 'flux-system' },
    spec: { interval: '1h', targetNamespace, chart, serviceAccountName: 'kustomize-controller' },
  }
}

const documents = (objects: readonly Json[]) => objects.map(one => JSON.stringify(one)).join('\n---\n')
const withoutBinding = (file: string) =>
  fleetFiles[file]!.split('---\n')
    .filter(one => !one.includes('kind: RoleBinding'))
    .join('---\n')

const PARKED = {
  apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
  kind: 'Kustomization',
  metadata: { name: 'parked', namespace: 'flux-system' },
  spec: {
    interval: '1h',
    path: './parked',
    prune: true,
    suspend: true,
    serviceAccountName: 'kustomize-controller',
    sourceRef: { kind: 'GitRepository', name: 'flux-system' },
  },
}

function given({ grants, objects, hidden, defined, others, parked }: World, count: number, version: string): Given {
  const rbac = grants.flatMap(({ rules, roleRef, subject, namespace }, at) => [
    role('', `own-${at}`, rules),
    binding(namespace, `own-${at}`, roleRef === 'own' ? `ClusterRole own-${at}` : roleRef, subject),
  ])
  const platform = [
    ...(parked ? [PARKED] : rbac),
    ...hidden,
    definition(WIDGET),
    ...(defined ? [definition(CERTIFICATE)] : []),
  ]
  const own = objects.slice(0, count).map(({ kind, name }) => {
    const { metadata, ...rest } = objectOf(kind, 'apps', name) as { metadata: { [key: string]: Json } }
    return { ...rest, metadata: { ...metadata, labels: { version } } }
  })
  return miniFleet({
    fleet: {
      'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml, platform.yaml]\n',
      'tenants/dev-team.yaml': withoutBinding('tenants/dev-team.yaml'),
      ...(others ? {} : { 'tenants/ops-team.yaml': withoutBinding('tenants/ops-team.yaml') }),
      'tenants/platform.yaml': documents(platform),
      'parked/kustomization.yaml': 'resources: [all.yaml]\n',
      'parked/all.yaml': documents(rbac),
    },
    dev: {
      'deploy/kustomization.yaml': `resources: [${own.length > 0 ? 'all.yaml' : ''}]\n`,
      'deploy/all.yaml': documents(own),
    },
  })
}

type Answer = ReturnType<typeof canI>['answer']
type Asked = World['objects'][number]

/** What `can-i` answers about one verb. */
function answers(fleet: Fleet): (one: Asked, verb: string) => Answer {
  const index = new FleetIndex(fleet)
  return ({ kind: { apiVersion, resource }, name }, verb) => {
    const request = { verb, apiGroup: groupOf(apiVersion), resource, namespace: 'apps', name }
    return canI(fleet, index, CLUSTER, userInfo(ACCOUNT), request).answer
  }
}

test('check passes, blocks and warns where can-i answers yes, no and unknown', () => {
  const seen = { yes: 0, no: 0, unknown: 0 }
  fc.assert(
    fc.property(world, one => {
      const input = inputOf(given(one, one.objects.length, 'new'))
      const [head, base] = [buildFleet(input), fleetOf(given(one, one.standing, 'old'))]
      const { verdict } = evaluateFleet(head, { revisionSet: revisionSetOf(input), base })
      const [now, then] = [answers(head), answers(base)]
      const standing = one.objects.slice(0, one.standing)
      // of a new object: the account does on the base what no visible role allows, so it has others
      const lives = (asked: Asked) =>
        !standing.includes(asked) &&
        standing.some(({ kind, name }) => kind === asked.kind && then({ kind, name }, 'patch') !== 'yes')
      for (const asked of one.objects) {
        const verbs = standing.includes(asked) ? ['patch'] : ['patch', 'create']
        const all = verbs.map(verb => now(asked, verb))
        const answer = all.includes('no')
          ? lives(asked)
            ? 'unknown'
            : 'no'
          : all.includes('unknown')
            ? 'unknown'
            : 'yes'
        seen[answer]++
        const shown = `${asked.kind.kind} apps/${asked.name}`
        const blocked = verdict.violations.some(({ rule, state, object: { kind, name } }) => {
          return rule === 'account-cannot-apply' && state !== 'fixed' && kind === asked.kind.kind && name === asked.name
        })
        const warned = verdict.warnings.some(({ rule, state, message }) => {
          return (
            rule === 'account-cannot-apply' &&
            state !== 'fixed' &&
            /: it is unknown whether /.test(message) &&
            message.includes(shown)
          )
        })
        expect({ [shown]: blocked ? 'no' : warned ? 'unknown' : 'yes' }).toEqual({ [shown]: answer })
      }
    }),
    { numRuns: FLEETS, seed: SEED },
  )
  expect(Math.min(...Object.values(seen)), JSON.stringify(seen)).toBeGreaterThan(25)
}, 300_000)
