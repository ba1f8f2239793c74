import { describe, expect, test } from 'vitest'
import { blastRadius } from '../../src/report/policy-impact.ts'
import { policyCoverage } from '../../src/rules/policies/policy-coverage.ts'
import { evaluationOf, type Files, fleetOf, type Given, said } from '../fleet/fleet-of.ts'
import { readFolder, sharedFleetsPresent } from '../fleet/read-folder.ts'

const present = sharedFleetsPresent()
const url = 'https://github.com/fluxcd/flux2-multi-tenancy'

function reference(change: { fleet?: Files; dev?: Files } = {}): Given {
  return {
    url,
    fleet: { ...readFolder('flux2-multi-tenancy/fleet'), ...change.fleet },
    sources: [
      { url, ref: { branch: 'dev-team' }, files: { ...readFolder('flux2-multi-tenancy/dev-team'), ...change.dev } },
    ],
  }
}

const edited = (repository: 'fleet' | 'dev-team', file: string, from: string, to: string): Files => {
  const text = readFolder(`flux2-multi-tenancy/${repository}`)[file]!
  expect(text).toContain(from)
  return { [file]: text.replace(from, to) }
}
const base = (content: string): Files => ({
  'base/kustomization.yaml': 'resources:\n  - podinfo-repository.yaml\n  - podinfo-release.yaml\n  - extra.yaml\n',
  'base/extra.yaml': content,
})

describe.runIf(present)('fluxcd/flux2-multi-tenancy', () => {
  test('passes as it is, without configuration', () => {
    const { verdict } = evaluationOf(reference())
    expect(verdict).toMatchObject({ result: 'pass', violations: [], errors: [] })
    // its Flux is not visible, and the newest does not serve the versions that it was written for
    expect(new Set(verdict.warnings.map(({ rule, field }) => `${rule} ${field}`))).toEqual(
      // the second pattern of its policy is no URL for Go
      new Set(['schema-mismatch /apiVersion', 'source-url-malformed /spec/rules/0/validate/pattern/spec/url']),
    )
    expect(verdict.clusters.map(one => one.name)).toEqual(['production', 'staging'])
    expect(verdict.tenants).toMatchObject([
      { name: 'dev-team', namespaces: ['apps'], clusters: ['production', 'staging'] },
    ])
    expect(verdict.notSeen).toMatchObject([{ source: 'OCIRepository/flux-system/kyverno-controller' }])
  })

  test.each<[string, Parameters<typeof edited>, string]>([
    [
      'account',
      ['fleet', 'tenants/base/dev-team/sync.yaml', '  serviceAccountName: dev-team\n', ''],
      'sa-required tenants/base/dev-team/sync.yaml:17',
    ],
    [
      'account, by the overlay',
      [
        'fleet',
        'tenants/staging/dev-team-patch.yaml',
        '  path: ./staging',
        '  path: ./staging\n  serviceAccountName: ""',
      ],
      'sa-required tenants/staging/dev-team-patch.yaml:8',
    ],
    [
      'sourceRef',
      [
        'fleet',
        'tenants/base/dev-team/sync.yaml',
        '    name: dev-team\n  prune',
        '    name: flux-system\n    namespace: flux-system\n  prune',
      ],
      'cross-namespace-ref tenants/base/dev-team/sync.yaml:23',
    ],
    [
      'remote base',
      ['fleet', 'tenants/staging/kustomization.yaml', '  - ../base/dev-team', '  - https://github.com/evil/x'],
      'kustomize-remote-base tenants/staging/kustomization.yaml:5',
    ],
  ])('one bad change of the fleet: %s', (_what, change, expected) => {
    expect(new Set(said(evaluationOf(reference({ fleet: edited(...change) }), { base: reference() })))).toContain(
      expected,
    )
  })

  test.each<[string, () => Files, string]>([
    [
      'release without account',
      () => edited('dev-team', 'base/podinfo-release.yaml', '  serviceAccountName: dev-team\n', ''),
      'sa-required base/podinfo-release.yaml:6',
    ],
    [
      'reference',
      () =>
        edited(
          'dev-team',
          'base/podinfo-release.yaml',
          '        name: podinfo',
          '        name: podinfo\n        namespace: flux-system',
        ),
      'cross-namespace-ref base/podinfo-release.yaml:15',
    ],
    [
      'remote base',
      () => edited('dev-team', 'staging/kustomization.yaml', '  - ../base', '  - github.com/evil/x//base?ref=main'),
      'kustomize-remote-base staging/kustomization.yaml:4',
    ],
    [
      'foreign namespace',
      () => edited('dev-team', 'base/podinfo-repository.yaml', 'namespace: apps', 'namespace: kube-system'),
      'namespace-confinement base/podinfo-repository.yaml:5',
    ],
    [
      'foreign namespace by a patch',
      () => ({
        'staging/kustomization.yaml': `resources:\n  - ../base\npatches:\n  - target: {kind: HelmRepository}\n    patch: |\n      - op: replace\n        path: /metadata/namespace\n        value: team-b\n`,
      }),
      'namespace-confinement staging/kustomization.yaml:8',
    ],
    [
      'foreign namespace by a transformer',
      () => ({ 'staging/kustomization.yaml': 'namespace: flux-system\nresources:\n  - ../base\n' }),
      'namespace-confinement staging/kustomization.yaml:1',
    ],
    [
      'cluster-scoped object',
      () =>
        base('apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: x\n  namespace: apps\n'),
      'cluster-scoped-forbidden base/extra.yaml:2',
    ],
    [
      'plain secret',
      () =>
        base(
          'apiVersion: v1\nkind: Secret\nmetadata:\n  name: x\n  namespace: apps\nstringData:\n  password: hunter2\n',
        ),
      'plaintext-secret base/extra.yaml:7',
    ],
  ])('one bad change of the tenant: %s', (what, dev, expected) => {
    const evaluation = evaluationOf(reference({ dev: dev() }), { base: reference() })
    const errors =
      {
        // the release waits for the source that went away
        'foreign namespace': ['error flux-invalid base/podinfo-release.yaml:14'],
        'foreign namespace by a patch': ['error flux-invalid base/podinfo-release.yaml:14'],
      }[what] ?? []
    expect(evaluation.verdict.result).toBe(errors.length > 0 ? 'error' : 'fail')
    expect(new Set(said(evaluation))).toEqual(new Set([expected, ...errors]))
    expect(evaluation.verdict.violations.every(one => one.tenant === 'dev-team')).toBe(true)
  })
})

describe.runIf(present)('clastix/flux2-capsule-multi-tenancy', () => {
  const capsule = 'https://github.com/clastix/flux2-capsule-multi-tenancy'
  const given = (): Given => ({
    url: capsule,
    fleet: readFolder('flux2-capsule-multi-tenancy/fleet'),
    sources: [{ url: capsule, ref: { branch: 'dev-team' }, files: readFolder('flux2-capsule-multi-tenancy/dev-team') }],
  })

  test('passes as it is: the default account is known, the tenant may create its namespaces', () => {
    const { verdict } = evaluationOf(given())
    expect(verdict).toMatchObject({ result: 'pass', violations: [], errors: [] })
    expect(verdict.tenants).toMatchObject([{ name: 'dev-team', namespaces: ['apps', 'dev-team', 'tools'] }])
  })

  test('the attacks of the other branch are found', () => {
    const { fleet } = given()
    const team = (text: string) => text.replaceAll('dev-team', 'ops-team')
    const files = Object.fromEntries(
      Object.entries(fleet).flatMap(([path, text]) =>
        path.startsWith('tenants/base/dev-team/') ? [[team(path), team(text)]] : [],
      ),
    )
    const overlay = fleet['tenants/staging/kustomization.yaml']!.replace(
      '  - ../base/dev-team',
      '  - ../base/dev-team\n  - ../base/ops-team',
    )
    const sync = {
      'tenants/base/ops-team/sync.yaml': files['tenants/base/ops-team/sync.yaml']!.replace(
        '  prune: true',
        '  path: ./staging\n  prune: true',
      ),
    }
    const ops = {
      ...readFolder('flux2-capsule-multi-tenancy/ops-team'),
      'base/podinfo-disclosure/kustomization.yaml': 'resources: [podinfo-release-to-infra-from-apps.yaml]\n',
    }
    const both: Given = {
      ...given(),
      fleet: { ...fleet, ...files, ...sync, 'tenants/staging/kustomization.yaml': overlay },
      sources: [...given().sources!, { url: capsule, ref: { branch: 'ops-team' }, files: ops }],
    }
    const found = said(evaluationOf(both, { base: given() }))
    expect(found).toContain('cluster-scoped-forbidden staging/privilege-escalation/cluserrolebinding.yaml:2')
    expect(found).toContain('cross-namespace-ref base/podinfo-disclosure/podinfo-release-to-infra-from-apps.yaml:19')
    expect(found).toContain('namespace-ownership base/namespaces-exfiltration/namespaces.yaml:11')
  })

  const POLICY = 'infrastructure/kyverno-policies/verify-git-repositories.yaml'
  const enforced = (): Files =>
    edited('fleet', POLICY, 'validationFailureAction: Audit', 'validationFailureAction: Enforce')
  const other = () => ({
    dev: base(
      `apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata:\n  name: other\n  namespace: apps\nspec:\n  interval: 1m\n  url: https://github.com/elsewhere/app\n  ref: {branch: main}\n`,
    ),
  })

  test('its policies are evaluated without configuration, and what is not evaluated is named', () => {
    const covered = policyCoverage(fleetOf(reference()), ['staging'])
    expect(covered).toMatchObject([
      { name: 'verify-flux-images', notEvaluated: ['verifyImages'], rules: [] },
      { name: 'verify-git-repositories', notEvaluated: [], rules: [{ rule: 'github-repositories-only', passed: 1 }] },
    ])
  })

  test('Audit reports a source at its line, under the account; Enforce refuses it', () => {
    const audited = evaluationOf(reference(other()), { base: reference() }).verdict
    expect(audited.result).toBe('pass')
    const place = { file: 'base/extra.yaml', line: 8 }
    const policy = { name: 'verify-git-repositories', rule: 'github-repositories-only', action: 'audit' }
    const identity = 'system:serviceaccount:apps:dev-team'
    expect(audited.warnings.filter(({ rule }) => rule === 'source-url-allowlist')).toMatchObject([
      { rule: 'source-url-allowlist', origin: place, identity, policy, tenant: 'dev-team' },
      { rule: 'source-url-allowlist', origin: place, identity, policy, tenant: 'dev-team' },
    ])
    const fleet = enforced()
    const refused = evaluationOf(reference({ ...other(), fleet }), { base: reference({ fleet }) }).verdict
    expect(refused.result).toBe('fail')
    expect(refused.violations).toMatchObject([
      { origin: place, identity, policy: { action: 'deny' } },
      { origin: place, identity, policy: { action: 'deny' } },
    ])
  })

  test('a change from Audit to Enforce lists the source that it would refuse', () => {
    const { verdict } = evaluationOf(reference({ ...other(), fleet: enforced() }), { base: reference(other()) })
    expect(blastRadius(verdict)).toMatchObject([
      {
        policy: { kind: 'ClusterPolicy', name: 'verify-git-repositories', action: 'deny' },
        origin: { file: POLICY },
        tenants: [
          {
            tenant: 'dev-team',
            clusters: [{ cluster: 'production' }, { cluster: 'staging' }],
            names: ['GitRepository apps/other'],
          },
        ],
      },
    ])
  })
})
