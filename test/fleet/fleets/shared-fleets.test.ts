import { describe, expect, test } from 'vitest'
import type { Verdict } from '../../../src/rules/model/finding.ts'
import { evaluationOf, type Files, type Given } from '../fleet-of.ts'
import { readFolder, sharedFleetsPresent } from '../read-folder.ts'

const present = sharedFleetsPresent()

/** `rule tenant file:line` of what is new, each once, sorted: the clusters of a fleet say the same. */
function found({ violations, warnings, errors }: Verdict): string[] {
  const isNew = ({ state }: { readonly state: string }) => state === 'new'
  const place = ({ file, line }: { readonly file: string; readonly line: number }) => `${file}:${line}`
  const lines = [
    ...violations.filter(isNew).map(one => `${one.rule} ${one.tenant} ${place(one.origin)}`),
    ...warnings.filter(isNew).map(one => `warning ${one.rule} ${one.tenant} ${place(one.origin)}`),
    ...errors.filter(isNew).map(one => `error ${one.code} ${one.tenant} ${place(one.origin)}`),
  ]
  return [...new Set(lines)].sort()
}

describe.runIf(present)('fluxcd/flux2-multi-tenancy', () => {
  const url = 'https://github.com/fluxcd/flux2-multi-tenancy'
  const given = (): Given => ({
    url,
    fleet: readFolder('flux2-multi-tenancy/fleet'),
    sources: [{ url, ref: { branch: 'dev-team' }, files: readFolder('flux2-multi-tenancy/dev-team') }],
  })

  test('passes as it is: its tenant stays in its namespace, under its own account', () => {
    const { verdict } = evaluationOf(given())
    expect(verdict.result).toBe('pass')
    // written for an older Flux than the newest, and which one the clusters run is not visible
    expect(found(verdict)).toEqual([
      'warning schema-mismatch  infrastructure/kyverno/source.yaml:1',
      'warning schema-mismatch dev-team base/podinfo-release.yaml:1',
      'warning schema-mismatch dev-team base/podinfo-repository.yaml:1',
      // a pattern of an address that Go cannot read
      'warning source-url-malformed  infrastructure/kyverno-policies/verify-git-repositories.yaml:26',
    ])
    expect(verdict.tenants).toEqual([
      {
        name: 'dev-team',
        clusters: ['production', 'staging'],
        namespaces: ['apps'],
        identities: ['system:serviceaccount:apps:dev-team'],
      },
    ])
  })

  test('what could not be seen is said: Kyverno comes from a registry', () => {
    const { notSeen } = evaluationOf(given()).verdict
    expect(new Set(notSeen.map(({ source }) => source))).toEqual(
      new Set(['OCIRepository/flux-system/kyverno-controller']),
    )
  })

  test('nothing is new against itself', () => {
    expect(found(evaluationOf(given(), { base: given() }).verdict)).toEqual([])
  })
})

describe.runIf(present)('clastix/flux2-capsule-multi-tenancy', () => {
  const url = 'https://github.com/clastix/flux2-capsule-multi-tenancy'
  const branch = (name: string, files: Files) => ({ url, ref: { branch: name }, files })
  const fleet = present ? readFolder('flux2-capsule-multi-tenancy/fleet') : {}
  const dev = branch('dev-team', present ? readFolder('flux2-capsule-multi-tenancy/dev-team') : {})
  const ops = present ? readFolder('flux2-capsule-multi-tenancy/ops-team') : {}
  const asItIs: Given = { url, fleet, sources: [dev] }

  test('passes as it is: Capsule lets its tenant make namespaces, and the default account is known', () => {
    const { verdict } = evaluationOf(asItIs)
    expect(verdict.result).toBe('pass')
    expect(found(verdict)).toEqual([])
    expect(verdict.tenants).toEqual([
      {
        name: 'dev-team',
        clusters: ['staging'],
        namespaces: ['apps', 'dev-team', 'tools'],
        identities: ['system:serviceaccount:dev-team:gitops-reconciler'],
      },
    ])
    expect(found(evaluationOf(asItIs, { base: asItIs }).verdict)).toEqual([])
  })

  /** The fleet with ops-team added as dev-team is, and the group of its account in Capsule's configuration. */
  function onboarded(): Files {
    const team = (text: string) => text.replaceAll('dev-team', 'ops-team')
    const own = Object.entries(fleet).filter(([path]) =>
      /^tenants\/(base\/dev-team\/|staging\/dev-team-patch)/.test(path),
    )
    const overlay = 'tenants/staging/kustomization.yaml'
    const configuration = 'tenants/staging/capsule-configuration.yaml'
    return {
      ...fleet,
      ...Object.fromEntries(own.map(([path, text]) => [team(path), team(text)])),
      [overlay]: fleet[overlay]!.replace('../base/dev-team', '../base/dev-team\n  - ../base/ops-team').replace(
        '- dev-team-patch.yaml',
        '- dev-team-patch.yaml\n  - ops-team-patch.yaml',
      ),
      [configuration]: `${fleet[configuration]!.trimEnd()}\n  - system:serviceaccounts:ops-team\n`,
    }
  }
  const withOps = (files: Files): Given => ({ url, fleet: onboarded(), sources: [dev, branch('ops-team', files)] })
  const before = () => withOps({ 'staging/kustomization.yaml': 'resources: [../base/podinfo-source]\n', ...source() })
  const source = (): Files =>
    Object.fromEntries(Object.entries(ops).filter(([path]) => path.startsWith('base/podinfo-source/')))

  test('onboarding ops-team as dev-team is onboarded is clean', () => {
    expect(found(evaluationOf(before(), { base: asItIs }).verdict)).toEqual([])
  })

  /** What its branch tries, and who says so; comments of the branch call these lines FORBIDDEN. */
  const SEEN = [
    // it adopts the namespaces that dev-team made
    'namespace-ownership ops-team base/namespaces-exfiltration/namespaces.yaml:11',
    'namespace-ownership ops-team base/namespaces-exfiltration/namespaces.yaml:20',
    // it waits for objects in them, and in the default namespace, and so learns how they are
    'cross-namespace-ref ops-team staging/podinfo-kustomization.yaml:31',
    'cross-namespace-ref ops-team staging/podinfo-kustomization.yaml:35',
    // it makes its own account cluster-admin
    'cluster-scoped-forbidden ops-team staging/privilege-escalation/cluserrolebinding.yaml:2',
    'rbac-cluster-binding ops-team staging/privilege-escalation/cluserrolebinding.yaml:5',
  ]

  test('its branch is found out beside the file that is not there: that is an error, as in Flux', () => {
    const { verdict } = evaluationOf(withOps(ops), { base: before() })
    expect(verdict.result).toBe('error')
    expect(found(verdict)).toEqual(
      [
        ...SEEN,
        'error kustomize-missing ops-team base/podinfo-disclosure/kustomization.yaml:6',
        // releases into the namespace of dev-team, and the charts of all of them
        'cross-namespace-ref ops-team base/podinfo-disclosure/podinfo-release-to-infra-from-apps.yaml:19',
        'target-namespace ops-team base/podinfo-disclosure/podinfo-release-to-apps.yaml:7',
        'warning source-opaque ops-team base/podinfo-disclosure/podinfo-release-to-apps.yaml:15',
        'warning source-opaque ops-team base/podinfo-disclosure/podinfo-release-to-infra-from-apps.yaml:15',
        'warning source-opaque ops-team base/podinfo/podinfo-release-to-infra.yaml:15',
      ].sort(),
    )
  })

  test('in a copy that can be built, the releases are found out too, and nobody else is to blame', () => {
    const file = 'base/podinfo-disclosure/podinfo-release'
    const repaired = { ...ops, [`${file}-to-default.yaml`]: ops[`${file}-default.yaml`]! }
    const { verdict } = evaluationOf(withOps(repaired), { base: before() })
    expect(verdict.result).toBe('fail')
    expect(found(verdict)).toEqual(
      [
        ...SEEN,
        // releases into the namespace of dev-team, and into the default one
        `target-namespace ops-team ${file}-to-apps.yaml:7`,
        `target-namespace ops-team ${file}-to-default.yaml:7`,
        // a chart from the source of dev-team
        `cross-namespace-ref ops-team ${file}-to-infra-from-apps.yaml:19`,
        // nobody can see what a chart holds
        `warning source-opaque ops-team ${file}-to-apps.yaml:15`,
        `warning source-opaque ops-team ${file}-to-default.yaml:15`,
        `warning source-opaque ops-team ${file}-to-infra-from-apps.yaml:15`,
        'warning source-opaque ops-team base/podinfo/podinfo-release-to-infra.yaml:15',
      ].sort(),
    )
  })
})
