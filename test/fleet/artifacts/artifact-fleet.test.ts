import { expect, test } from 'vitest'
import { evaluationOf, type Files, fleetOf } from '../fleet-of.ts'
import { workflowText } from './workflow-text.ts'

const instance = (
  more = '',
  url = 'oci://ghcr.io/acme/fleet',
  path = './clusters/prod',
) => `apiVersion: fluxcd.controlplane.io/v1
kind: FluxInstance
metadata: {name: flux, namespace: flux-system}
spec:
  distribution: {version: 2.x, registry: ghcr.io/fluxcd}
  sync: {kind: OCIRepository, url: ${url}, ref: latest, path: ${path}}
${more}`
const kustomization = (
  name: string,
  path: string,
  source = 'flux-system',
) => `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: ${name}, namespace: flux-system}
spec: {interval: 1h, path: ${path}, prune: true, sourceRef: {kind: OCIRepository, name: ${source}}}
`
const configMap = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: default}\n`
const verify = (workflow: string, repository = 'acme/fleet', branch = 'main') => `  kustomize:
    patches:
      - target: {kind: OCIRepository}
        patch: |
          - op: add
            path: /spec/verify
            value:
              provider: cosign
              matchOIDCIdentity:
                - issuer: ^https://token\\.actions\\.githubusercontent\\.com$
                  subject: ^https://github\\.com/${repository.replaceAll('.', '\\.')}/\\.github/workflows/${workflow.replaceAll('.', '\\.')}@refs/heads/${branch}$
`
const WORKFLOW = '.github/workflows/push.yaml'
const files: Files = {
  [WORKFLOW]: workflowText(),
  'kubernetes/clusters/prod/flux.yaml': instance(),
  'kubernetes/clusters/prod/apps.yaml': kustomization('apps', './apps'),
  'kubernetes/apps/web.yaml': configMap('web'),
  'kubernetes/apps/logo.png': 'no manifest',
  'apps/other.yaml': configMap('other'),
}

const objects = (fleet: Files) =>
  fleetOf({ fleet }).nodes.map(
    node => `${node.key} ${node.path} ${node.source.opaque === undefined ? node.objects.length : 'not visible'}`,
  )

test('a cluster that starts from an artifact of a folder is evaluated as that folder', () => {
  const fleet = fleetOf({ fleet: files })
  expect(fleet.clusters.map(({ name, path, how }) => `${name} ${path} ${how}`)).toEqual([
    'prod kubernetes/clusters/prod flux-instance',
  ])
  expect(objects(files)).toEqual([
    'prod/flux-system/flux-system ./kubernetes/clusters/prod 2',
    'prod/flux-system/apps ./kubernetes/apps 1',
  ])
  expect(fleet.nodes[1]?.objects[0]?.root.origin.file).toBe('kubernetes/apps/web.yaml')
  expect(fleet.notReached).toEqual([])
})

test('that is only assumed: every result says so, and nothing of it is applied', () => {
  const { verdict, nodes } = evaluationOf({ fleet: files })
  expect(verdict.result).toBe('pass')
  expect(verdict.summary).toContain('content of 1 source assumed')
  const entry = {
    source: 'OCIRepository/flux-system/flux-system',
    url: 'oci://ghcr.io/acme/fleet:latest',
    what: 'content',
  }
  expect(verdict.notSeen).toEqual([expect.objectContaining(entry)])
  expect(verdict.notSeen[0]?.reason).toContain(
    './kubernetes of https://github.com/acme/fleet, because of .github/workflows/push.yaml:',
  )
  expect(nodes.map(({ source }) => source.assumed)).toEqual([true, true])
})

test('a signature of that workflow proves it', () => {
  const signed = { ...files, 'kubernetes/clusters/prod/flux.yaml': instance(verify('push.yaml')) }
  const { verdict, nodes } = evaluationOf({ fleet: signed })
  expect(verdict.notSeen).toEqual([])
  expect(nodes.map(({ source }) => source.assumed)).toEqual([undefined, undefined])
  expect(objects(signed)[1]).toBe('prod/flux-system/apps ./kubernetes/apps 1')
})

test.each<[string, Files]>([
  [
    'another workflow',
    {
      ...files,
      '.github/workflows/other.yaml': workflowText({ steps: [] }),
      'kubernetes/clusters/prod/flux.yaml': instance(verify('other.yaml')),
    },
  ],
  [
    'another repository',
    { ...files, 'kubernetes/clusters/prod/flux.yaml': instance(verify('push.yaml', 'mallory/fleet')) },
  ],
  [
    'another branch',
    { ...files, 'kubernetes/clusters/prod/flux.yaml': instance(verify('push.yaml', 'acme/fleet', 'dev')) },
  ],
])('a signature of %s makes it not visible', (_name, fleet) => {
  const { verdict } = evaluationOf({ fleet })
  expect(verdict.result).toBe('error')
  expect(verdict.evaluated.objects).toBe(0)
})

test.each([
  'oci://ghcr.io/mallory/fleet',
  'oci://ghcr.io/acme-/fleet',
  'oci://ghcr.io.example.com/acme/fleet',
  'oci://ghcr.io:8443/acme/fleet',
  'oci://ghcr.io/ACME/fleet',
  'oci://ghcr.io/acme/../mallory/fleet',
  'oci://docker.io/acme/fleet',
])('no workflow says what %s holds', url => {
  const pushed = workflowText().replaceAll('oci://ghcr.io/acme/fleet', url)
  const { verdict } = evaluationOf({
    fleet: { ...files, [WORKFLOW]: pushed, 'kubernetes/clusters/prod/flux.yaml': instance('', url) },
  })
  expect(verdict.result).toBe('error')
  expect(verdict.evaluated.objects).toBe(0)
})

test('the file of the fleet can say it of any registry', () => {
  const url = 'oci://registry.example.com:5000/acme/fleet'
  const declared = {
    ...files,
    '.github/bailiwick.yaml': `artifacts: [{url: "${url}:latest", path: ./kubernetes}]\n`,
    'kubernetes/clusters/prod/flux.yaml': instance('', url),
  }
  expect(objects(declared)[1]).toBe('prod/flux-system/apps ./kubernetes/apps 1')
  expect(evaluationOf({ fleet: declared }).verdict.notSeen[0]?.reason).toContain('because of .github/bailiwick.yaml:1')
})

test('an artifact that does not hold what git has says why, and how to declare it', () => {
  const rendered = workflowText({
    steps: [
      '- uses: actions/checkout@v4',
      '- run: ./render.sh',
      '- run: flux push artifact oci://ghcr.io/acme/fleet:latest --path ./kubernetes --source a --revision b',
    ],
  })
  const { verdict } = evaluationOf({ fleet: { ...files, [WORKFLOW]: rendered } })
  expect(verdict.result).toBe('error')
  expect(verdict.notSeen[0]?.reason).toContain('runs `./render.sh` earlier, which can change files')
  expect(verdict.notSeen[0]?.reason).toContain(
    'artifacts in .github/bailiwick.yaml: {url: oci://ghcr.io/acme/fleet:latest, path: ./}',
  )
})

test('what a change says about the workflow counts once it is merged, and needs an approval', () => {
  const moved = { ...files, [WORKFLOW]: workflowText().replaceAll('./kubernetes', './') }
  const { verdict } = evaluationOf({ fleet: moved }, { base: { fleet: files } })
  expect(verdict.evaluated.objects).toBe(3)
  expect(verdict.requiredApprovals.map(({ rule, path }) => `${rule} ${path}`)).toEqual([
    `gate-workflow-change ${WORKFLOW}`,
  ])
  const { verdict: plain } = evaluationOf(
    { fleet: { ...files, 'kubernetes/apps/web.yaml': configMap('web2') } },
    { base: { fleet: files } },
  )
  expect(plain.result).toBe('pass')
  expect(plain.requiredApprovals).toEqual([])
})

test.each<[string, string]>([
  ['the signature goes', instance()],
  ['another tag', instance(verify('push.yaml')).replace('ref: latest', 'ref: staging')],
  ['another address', instance(verify('push.yaml'), 'oci://ghcr.io/acme/other')],
])('a change of what brings the content is told: %s', (_name, text) => {
  const fleet = { ...files, [WORKFLOW]: `${workflowText()}# ghcr.io/acme/fleet:staging\n` }
  const base = { ...fleet, 'kubernetes/clusters/prod/flux.yaml': instance(verify('push.yaml')) }
  const head = { ...fleet, 'kubernetes/clusters/prod/flux.yaml': text }
  const { verdict } = evaluationOf({ fleet: head }, { base: { fleet: base } })
  expect(verdict.requiredApprovals.map(({ rule }) => rule)).toContain('source-verify-removed')
})

const tenantFiles: Files = {
  ...files,
  'kubernetes/clusters/prod/tenant.yaml': `apiVersion: v1
kind: Namespace
metadata: {name: team, labels: {toolkit.fluxcd.io/tenant: team}}
---
${kustomization('team', './team').replace('namespace: flux-system', 'namespace: team').replace('name: flux-system}', 'name: flux-system, namespace: flux-system}')}`,
  'kubernetes/team/source.yaml': `apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: mine, namespace: team}
spec: {interval: 1h, url: oci://ghcr.io/acme/fleet, ref: {tag: latest}}
---
${kustomization('mine', './apps', 'mine').replace('namespace: flux-system', 'namespace: team')}`,
}

test('an OCIRepository of a tenant is never taken for the content of the platform', () => {
  const { nodes } = fleetOf({ fleet: tenantFiles })
  const mine = nodes.find(({ key }) => key === 'prod/team/mine')
  expect(mine?.tenant).toBe('team')
  expect(mine?.source.opaque).toBe('the content of an OCIRepository is not in git')
})

const TEAM = 'https://github.com/acme/team'
const signedBy = (repository: string) => `      - issuer: ^https://token\\.actions\\.githubusercontent\\.com$
        subject: ^https://github\\.com/${repository}/\\.github/workflows/push\\.yaml@refs/heads/main$
`
const withTeam: Files = {
  ...files,
  'kubernetes/clusters/prod/team.yaml': `apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: team, namespace: flux-system}
spec:
  interval: 1h
  url: oci://ghcr.io/acme/team/app
  verify:
    provider: cosign
    matchOIDCIdentity:
${signedBy('acme/team')}---
${kustomization('team', './', 'team')}`,
}
const team: Files = {
  [WORKFLOW]: workflowText().replaceAll(
    'oci://ghcr.io/acme/fleet:latest --path=./kubernetes',
    'oci://ghcr.io/acme/team/app:latest --path=./app',
  ),
  'app/web.yaml': configMap('web'),
  'other.yaml': configMap('other'),
}

test('an artifact that a workflow of another repository signs is read there', () => {
  const build = (files: Files) =>
    fleetOf({ fleet: withTeam, sources: [{ url: TEAM, files }] }).nodes.find(({ name }) => name === 'team')
  expect(build(team)?.source).toMatchObject({ url: TEAM, ref: { branch: 'main' }, artifact: { folder: 'app' } })
  expect(build(team)?.source.artifact?.assumed).toBeUndefined()
  expect(build(team)?.objects.length).toBe(1)
  const rendered = { ...team, [WORKFLOW]: team[WORKFLOW]!.replace('- uses: actions/checkout@v4', '- run: ./render.sh') }
  expect(build(rendered)?.source.opaque).toContain('no earlier step checks out the repository')
  expect(fleetOf({ fleet: withTeam }).wanted).toEqual([{ url: TEAM, ref: { branch: 'main' } }])
})
