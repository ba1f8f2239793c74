import { describe, expect, test } from 'vitest'
import { planAdoption } from '../../../src/tenants/adopt/plan-adoption.ts'
import { planLockdown } from '../../../src/tenants/adopt/plan-lockdown.ts'
import type { Files } from '../../fleet/fleet-of.ts'
import { adoptable, homeFleet, kustomization, object, withFiles } from './adoptable.ts'

const plan = (files: Files) => planLockdown(adoptable(files), 'home')

/** Flux itself, as bootstrap writes it. */
const controller = (name: string) =>
  object(
    'apps/v1',
    'Deployment',
    name,
    'flux-system',
    `spec:
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec: {containers: [{name: manager, image: 'ghcr.io/fluxcd/${name}:v1', args: [--watch-all-namespaces=true]}]}
`,
  )

const FLUX: Files = {
  'clusters/home/flux-system/gotk-components.yaml': [
    'kustomize-controller',
    'helm-controller',
    'notification-controller',
  ]
    .map(controller)
    .join(''),
  'clusters/home/flux-system/kustomization.yaml': 'resources:\n- gotk-components.yaml\n- gotk-sync.yaml\n',
}
const files = (more: Files = {}) => homeFleet({ ...FLUX, ...more })

/** The fleet after each of the changes, in their order. */
function locked(start: Files, steps: number): Files {
  let now = start
  for (let step = 0; step < steps; step++) now = withFiles(now, plan(now)?.files ?? [])
  return now
}

/** The fleet with an account for everything that Flux applies. */
function adopted(): Files {
  const first = withFiles(files(), planAdoption(adoptable(files()), { name: 'web' }).files)
  return withFiles(first, planAdoption(adoptable(first), { name: 'monitoring' }).files)
}

describe('the flags of the lockdown, one change each', () => {
  test('in the order that breaks the least, until all are set', () => {
    const titles: (string | undefined)[] = []
    let now = adopted()
    for (let step = 0; step < 4; step++) {
      const change = plan(now)
      titles.push(change?.title)
      now = withFiles(now, change?.files ?? [])
    }
    expect(titles).toEqual([
      'Set --no-remote-bases on home',
      'Set --no-cross-namespace-refs on home',
      'Set --default-service-account on home',
      undefined,
    ])
    expect(adoptable(now).fleet.clusters[0]?.lockdown).toMatchObject({
      noRemoteBases: true,
      noCrossNamespaceRefs: true,
      defaultServiceAccount: 'default',
      helmDefaultServiceAccount: 'default',
    })
    const root = adoptable(now).fleet.nodes.find(({ parent }) => parent === undefined)
    expect(root?.identity.user).toBe('system:serviceaccount:flux-system:kustomize-controller')
  })

  test('each is a patch of its own in the folder where Flux is installed', () => {
    const change = plan(files())
    expect(change?.files).toEqual([
      {
        path: 'clusters/home/flux-system/kustomization.yaml',
        change: 'edited',
        content: `${FLUX['clusters/home/flux-system/kustomization.yaml']}patches:
- path: no-remote-bases.yaml
  target:
    kind: Deployment
    name: (kustomize-controller)
`,
      },
      {
        path: 'clusters/home/flux-system/no-remote-bases.yaml',
        change: 'created',
        content: '- op: add\n  path: /spec/template/spec/containers/0/args/-\n  value: --no-remote-bases=true\n',
      },
    ])
  })
})

describe('what would break is refused', () => {
  const rows: readonly [what: string, at: number, more: Files, message: RegExp][] = [
    [
      'a remote base',
      0,
      { 'apps/web/kustomization.yaml': 'resources: [objects.yaml, "https://github.com/acme/base?ref=v1"]\n' },
      /--no-remote-bases would break home: .*home\/flux-system\/web/,
    ],
    [
      'a source of another namespace',
      1,
      {
        'clusters/home/apps/other.yaml': kustomization('other', './apps/web')
          .replace('  namespace: flux-system\nspec', '  namespace: web\nspec')
          .replace('    name: flux-system', '    name: flux-system\n    namespace: flux-system'),
      },
      /--no-cross-namespace-refs would break home: .*Kustomization web\/other refers to GitRepository flux-system\/flux-system/,
    ],
    [
      'a Kustomization without account',
      2,
      {},
      /--default-service-account would break home: home\/flux-system\/\w+ has no account, and system:serviceaccount:flux-system:default may not get/,
    ],
    [
      'a release without account',
      2,
      {
        'apps/web/release.yaml': object(
          'helm.toolkit.fluxcd.io/v2',
          'HelmRelease',
          'redis',
          'web',
          'spec: {interval: 1m, chartRef: {kind: OCIRepository, name: chart}}\n',
        ),
      },
      /HelmRelease web\/redis has no account, and what it renders is not visible/,
    ],
  ]
  test.each(rows)('%s', (_what, at, more, message) => {
    expect(() => locked(files(more), at + 1)).toThrow(message)
  })

  test('a reference to another namespace is no matter of the first flag', () => {
    const [, , more] = rows[1]!
    expect(plan(files(more))?.title).toBe('Set --no-remote-bases on home')
  })
})

test('a fleet that installs Flux in another way is told where to set the flag', () => {
  const other = homeFleet({ 'clusters/home/flux-system/kustomization.yaml': 'resources: [gotk-sync.yaml]\n' })
  expect(() => plan(other)).toThrow(/would have no effect on home|has no kustomization file/)
  expect(() => planLockdown(adoptable(files()), 'away')).toThrow(/this fleet has no cluster "away"/)
})
