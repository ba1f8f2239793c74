import { expect, test } from 'vitest'
import { FleetSession } from '../../../src/fleet/graph/fleet-session.ts'
import { evaluationOf, type Files, fleetOf, inputOf } from '../fleet-of.ts'

const FLEET = 'oci://ghcr.io/acme/fleet'
const instance = (more = '', url = FLEET, path = './clusters/prod') => `apiVersion: fluxcd.controlplane.io/v1
kind: FluxInstance
metadata: {name: flux, namespace: flux-system}
spec:
  distribution: {version: 2.x, registry: ghcr.io/fluxcd}
  sync: {kind: OCIRepository, url: "${url}", ref: latest, path: ${path}}
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
const identity = (repository = 'acme/fleet', branch = 'main') => `provider: cosign
matchOIDCIdentity:
  - issuer: ^https://token\\.actions\\.githubusercontent\\.com$
    subject: ^https://github\\.com/${repository}/\\.github/workflows/push\\.yaml@refs/heads/${branch}$
`
const indented = (text: string, by: number) => text.replaceAll(/^/gm, ' '.repeat(by)).trim()
const verify = (...who: Parameters<typeof identity>) => `  kustomize:
    patches:
      - target: {kind: OCIRepository}
        patch: |
          - op: add
            path: /spec/verify
            value:
              ${indented(identity(...who), 14)}
`
const WORKFLOW = '.github/workflows/push.yaml'
const pushes = (script: string) =>
  `on: {push: {branches: [main]}}\njobs: {push: {runs-on: ubuntu-latest, steps: [{run: ${script}}]}}\n`
const files: Files = {
  [WORKFLOW]: pushes('hack/push.sh'),
  'hack/push.sh': 'flux push artifact\n',
  'README.md': 'push.sh\n',
  'clusters/prod/flux.yaml': instance(),
  'clusters/prod/apps.yaml': kustomization('apps', './apps'),
  'apps/web.yaml': configMap('web'),
}
/** The same, below a folder that is pushed. */
const below: Files = {
  ...Object.fromEntries(Object.entries(files).map(([path, text]) => [`kubernetes/${path}`, text])),
  [WORKFLOW]: files[WORKFLOW]!,
}
const declaring = (path = './', url = FLEET) => ({
  '.github/bailiwick.yaml': `artifacts: [{url: "${url}:latest", path: ${path}}]\n`,
})
const from = (text: string): Files => ({ ...files, 'clusters/prod/flux.yaml': text })
const signed = from(instance(verify()))

const paths = (fleet: Files) =>
  fleetOf({ fleet }).nodes.map(
    node => `${node.name} ${node.path} ${node.source.opaque === undefined ? node.objects.length : 'not visible'}`,
  )
const asked = (head: Files, base: Files) =>
  evaluationOf({ fleet: head }, { base: { fleet: base } }).verdict.requiredApprovals.map(
    ({ rule, path }) => `${rule} ${path}`,
  )

test('an artifact of the repository, which nobody declares, is all of the repository', () => {
  expect(paths(files)).toEqual(['flux-system ./clusters/prod 2', 'apps ./apps 1'])
  const { verdict, nodes } = evaluationOf({ fleet: files })
  expect(verdict.result).toBe('pass')
  expect(verdict.summary).toContain('The content of 1 source is assumed')
  expect(verdict.notSeen).toEqual([
    {
      source: 'OCIRepository/flux-system/flux-system',
      url: `${FLEET}:latest`,
      what: 'content',
      reason: expect.stringMatching(
        /^evaluated as \.\/ of https:\/\/github\.com\/acme\/fleet, because of the name of the package\..*Set spec\.verify.*declare it under artifacts in \.github\/bailiwick\.yaml: \{url: oci:\/\/ghcr\.io\/acme\/fleet:latest, path: \.\/\}$/,
      ),
    },
  ])
  expect(nodes.map(({ source }) => source.assumed)).toEqual([true, true])
})

test.each([
  ['declared', { ...files, ...declaring() }, 'because of .github/bailiwick.yaml:1'],
  ['signed', signed, `because ${WORKFLOW} signs it`],
])('what is only %s is assumed as well', (_name, fleet, because) => {
  const { verdict, nodes } = evaluationOf({ fleet })
  expect(verdict.notSeen.map(({ reason }) => reason)).toEqual([expect.stringContaining(because)])
  expect(nodes.map(({ source }) => source.assumed)).toEqual([true, true])
})

test('a signature and the declaration together prove it', () => {
  const { verdict, nodes } = evaluationOf({ fleet: { ...signed, ...declaring() } })
  expect(verdict.notSeen).toEqual([])
  expect(nodes.map(({ source }) => source.assumed)).toEqual([undefined, undefined])
})

test.each(['secretRef', 'trustedRootSecretRef'])('an identity beside %s proves nothing', field => {
  const fleet = from(instance(`${verify()}              ${field}: {name: other}\n`))
  expect(evaluationOf({ fleet: { ...fleet, ...declaring() } }).nodes[0]?.source.assumed).toBe(true)
  expect(evaluationOf({ fleet }).verdict.notSeen[0]?.reason).toContain('does not name exactly one workflow')
})

test.each(['oci://registry.example.com:5000/acme/fleet', FLEET])('a declared folder counts, at %s', url => {
  const fleet = { ...below, ...declaring('./kubernetes', url), 'kubernetes/clusters/prod/flux.yaml': instance('', url) }
  expect(paths(fleet)).toEqual(['flux-system ./kubernetes/clusters/prod 2', 'apps ./kubernetes/apps 1'])
  expect(fleetOf({ fleet }).nodes[1]?.objects[0]?.root.origin.file).toBe('kubernetes/apps/web.yaml')
})

test.each<[string, Files, string]>([
  ['a folder that is not declared', below, './clusters/prod, which is not a folder of'],
  [
    'a folder that is not declared, although signed',
    { ...below, 'kubernetes/clusters/prod/flux.yaml': instance(verify()) },
    './clusters/prod, which is not a folder of',
  ],
  [
    'the root, which every repository has',
    { ...files, 'clusters/prod/flux.yaml': instance('', FLEET, './') },
    'applies its root',
  ],
  [
    'one folder of several',
    { ...files, 'clusters/prod/other.yaml': kustomization('other', './other') },
    'flux-system/other applies ./other',
  ],
  [
    'a file',
    { ...files, 'clusters/prod/other.yaml': kustomization('other', './README.md') },
    'flux-system/other applies ./README.md',
  ],
  [
    'another tag',
    from(instance().replace('ref: latest', 'ref: stable')),
    'tag stable is neither latest nor the branch main',
  ],
])('what nobody declares is not visible, and says how to declare it: %s', (_name, fleet, why) => {
  const { verdict } = evaluationOf({ fleet })
  expect(verdict.evaluated.objects).toBe(0)
  expect(verdict.result).toBe('error')
  const { reason = '' } = verdict.notSeen[0] ?? {}
  expect(reason).toContain(why)
  expect(reason).toMatch(
    /declare it under artifacts in \.github\/bailiwick\.yaml: \{url: oci:\/\/ghcr\.io\/acme\/fleet:/,
  )
})

test.each([
  'oci://ghcr.io/mallory/fleet',
  'oci://ghcr.io/acme/fleet-2',
  'oci://ghcr.io/acme/other',
  'oci://ghcr.io/acme-/fleet',
  'oci://ghcr.io.example.com/acme/fleet',
  'oci://ghcr.io:8443/acme/fleet',
  'oci://ghcr.io/ACME/fleet',
  'oci://ghcr.io/acme/../mallory/fleet',
  'oci://docker.io/acme/fleet',
])('%s is no package of the repository', url => {
  expect(evaluationOf({ fleet: from(instance('', url)) }).verdict).toMatchObject({
    result: 'error',
    evaluated: { objects: 0 },
  })
})

test.each([
  ['another repository', verify('mallory/fleet')],
  ['another branch', verify('acme/fleet', 'dev')],
  ['several repositories', verify('.*/fleet')],
])('a signature of %s makes a cluster not visible', (_name, patch) => {
  const declared = patch.includes('.*') ? {} : declaring()
  for (const more of [{}, declared]) {
    const { verdict } = evaluationOf({ fleet: { ...from(instance(patch)), ...more } })
    expect(verdict).toMatchObject({ result: 'error', evaluated: { objects: 0 } })
  }
})

test('a package below that of the repository is the one folder of that name', () => {
  const url = `${FLEET}/kubernetes`
  const fleet = { ...below, 'kubernetes/clusters/prod/flux.yaml': instance('', url) }
  expect(paths(fleet)).toEqual(['flux-system ./kubernetes/clusters/prod 2', 'apps ./kubernetes/apps 1'])
  expect(paths({ ...fleet, 'other/kubernetes/x.yaml': configMap('x') })).toEqual([
    'flux-system ./clusters/prod not visible',
  ])
})

test.each<[string, Files, string]>([
  ['the signature goes', files, 'source-verify-removed clusters/prod/flux.yaml'],
  [
    'another tag',
    from(instance(verify()).replace('ref: latest', 'ref: main')),
    'source-verify-removed clusters/prod/flux.yaml',
  ],
  ['another address', from(instance(verify(), `${FLEET}/clusters`)), 'source-verify-removed clusters/prod/flux.yaml'],
  [
    'another way to the registry',
    from(instance(`${verify()}          - {op: add, path: /spec/proxySecretRef, value: {name: proxy}}\n`)),
    'source-verify-removed clusters/prod/flux.yaml',
  ],
  [
    'a program that pushes',
    { ...signed, 'hack/push.sh': 'sed -i s/a/b/ apps/web.yaml\n' },
    'source-verify-removed hack/push.sh',
  ],
  ['the workflow', { ...signed, [WORKFLOW]: pushes('make') }, `gate-workflow-change ${WORKFLOW}`],
])('a change of what decides the content is agreed to: %s', (_name, head, approval) => {
  expect(asked(head, signed)).toContain(approval)
})

test('so is a program that pushes where its Kustomization gets another name', () => {
  const head = { ...signed, 'hack/push.sh': 'sed\n', 'clusters/prod/apps.yaml': kustomization('renamed', './apps') }
  expect(asked(head, signed)).toContain('source-verify-removed hack/push.sh')
})

test('a change of what is pushed is not', () => {
  expect(asked({ ...signed, 'apps/web.yaml': configMap('web2'), 'README.md': 'push.sh: see there' }, signed)).toEqual(
    [],
  )
})

test('a change that makes it pass for the repository is agreed to', () => {
  const decoy = { ...below, 'clusters/prod/flux.yaml': instance(), 'apps/web.yaml': configMap('decoy') }
  const decoys = { ...decoy, 'clusters/prod/apps.yaml': kustomization('apps', './apps') }
  expect(fleetOf({ fleet: decoys }).nodes.some(({ source }) => source.opaque === undefined)).toBe(true)
  expect(asked(decoys, below).length).toBeGreaterThan(0)
})

test('a manifest that the assumed folder does not have is not checked', () => {
  const more = (text: string) => ({ 'kubernetes/apps/web.yaml': configMap(text) })
  const { verdict } = evaluationOf(
    { fleet: { ...signed, ...more('b') } },
    { base: { fleet: { ...signed, ...more('a') } } },
  )
  expect(verdict.requiredApprovals.map(({ message }) => message)).toEqual([
    'kubernetes/apps/web.yaml was not checked: the content of OCIRepository `flux-system` is only assumed',
  ])
  expect(asked({ ...signed, ...declaring(), ...more('b') }, { ...signed, ...declaring(), ...more('a') })).toEqual([])
})

test('what the platform newly follows and is only assumed is agreed to', () => {
  const added = {
    'clusters/prod/more.yaml': `apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: more, namespace: flux-system}
spec: {interval: 1h, url: ${FLEET}/more}
---
${kustomization('more', './apps', 'more')}`,
  }
  expect(asked({ ...files, ...added }, files)).toEqual(['source-opaque clusters/prod/more.yaml'])
  // another folder of the same artifact
  const again = { 'clusters/prod/more.yaml': kustomization('more', './apps') }
  expect(asked({ ...files, ...again }, files)).toEqual([])
})

const tenantFiles = (spec: string, path = './apps'): Files => ({
  ...files,
  'clusters/prod/tenant.yaml': `apiVersion: v1
kind: Namespace
metadata: {name: team, labels: {toolkit.fluxcd.io/tenant: team}}
---
${kustomization('team', './team').replace('namespace: flux-system', 'namespace: team').replace('name: flux-system}', 'name: flux-system, namespace: flux-system}')}`,
  'team/source.yaml': `apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: mine, namespace: team}
spec:
  interval: 1h
  url: ${FLEET}
  ${spec}
---
${kustomization('mine', path, 'mine').replace('namespace: flux-system', 'namespace: team')}`,
})

test.each([
  ['unsigned', 'ref: {tag: latest}', {}],
  ['declared', 'ref: {tag: latest}', declaring()],
  ['signed', `verify:\n    ${indented(identity(), 4)}`, {}],
])('an OCIRepository of a tenant is never taken for the content of the platform: %s', (_name, spec, more) => {
  const mine = fleetOf({ fleet: { ...tenantFiles(spec), ...more } }).nodes.find(({ key }) => key === 'prod/team/mine')
  expect(mine?.tenant).toBe('team')
  expect(mine?.source.opaque).toBe('the content of an OCIRepository is not in git')
})

test('a folder that only a tenant names says nothing about the artifact', () => {
  const other = kustomization('none', './none')
    .replace('namespace: flux-system', 'namespace: team')
    .replace('name: flux-system}', 'name: flux-system, namespace: flux-system}')
  const fleet = { ...tenantFiles('ref: {tag: latest}'), 'team/none.yaml': other }
  expect(fleetOf({ fleet }).nodes.find(({ name }) => name === 'none')?.tenant).toBe('team')
  expect(paths(fleet)).toContain('apps ./apps 1')
})

const TEAM = 'https://github.com/acme/team'
const withTeam = (url = 'oci://ghcr.io/acme/team/app', path = './'): Files => ({
  ...signed,
  ...declaring(),
  'clusters/prod/team.yaml': `apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: team, namespace: flux-system}
spec:
  interval: 1h
  url: ${url}
  verify:
    ${indented(identity('acme/team'), 4)}
---
${kustomization('team', path, 'team')}`,
})
const team: Files = {
  [WORKFLOW]: pushes('./publish'),
  publish: 'flux push artifact\n',
  'parts/app/web.yaml': configMap('web'),
  'other.yaml': configMap('other'),
}
const ofTeam = (fleet: Files, files: Files) =>
  fleetOf({ fleet, sources: [{ url: TEAM, files }] }).nodes.find(({ name }) => name === 'team')

test('an artifact that a workflow of another repository signs is read there', () => {
  const node = ofTeam(withTeam(), team)
  expect(node?.source).toMatchObject({ url: TEAM, ref: { branch: 'main' }, artifact: { folder: 'parts/app' } })
  expect(node?.source.artifact?.assumed).toContain('path: ./parts/app}')
  expect(node?.objects.length).toBe(1)
  expect(fleetOf({ fleet: withTeam() }).wanted).toEqual([{ url: TEAM, ref: { branch: 'main' } }])
})

test('its declaration counts beside the signature', () => {
  const url = 'oci://registry.example.com/team'
  const fleet = { ...withTeam(url), ...declaring('./parts', url) }
  expect(ofTeam(fleet, team)?.source).toMatchObject({ artifact: { folder: 'parts' } })
  expect(ofTeam(fleet, team)?.source.artifact?.assumed).toBeUndefined()
  expect(ofTeam(withTeam(url), team)?.source.opaque).toContain('applies its root')
})

test.each<[string, Files, string[]]>([
  [
    'its workflow',
    { [WORKFLOW]: pushes('kustomize build') },
    [`source-verify-removed ${WORKFLOW}`, 'source-verify-removed publish'],
  ],
  ['what its workflow runs', { publish: 'sed\n' }, ['source-verify-removed publish']],
  [
    'a second folder of that name',
    { 'more/app/x.yaml': configMap('x') },
    ['source-verify-removed clusters/prod/team.yaml'],
  ],
  ['its content', { 'parts/app/web.yaml': configMap('web2') }, []],
])('a change there of what decides the content is agreed to: %s', (_name, change, approvals) => {
  const at = (files: Files) => ({ fleet: withTeam(), sources: [{ url: TEAM, files }] })
  const { verdict } = evaluationOf(at({ ...team, ...change }), { base: at(team), changed: TEAM })
  const found = verdict.requiredApprovals.map(({ rule, path }) => `${rule} ${path}`)
  expect(found).toEqual(expect.arrayContaining(approvals))
  if (approvals.length === 0) expect(found).toEqual([])
})

test.each<[string, Files, Files]>([
  ['the signature goes', signed, files],
  [
    'a folder goes',
    { ...files, 'clusters/prod/other.yaml': kustomization('other', './other'), 'other/a.yaml': configMap('a') },
    { ...files, 'clusters/prod/other.yaml': kustomization('other', './other') },
  ],
  ['a program changes', files, { ...files, 'hack/push.sh': 'sed\n' }],
])('a session gives the same after a change: %s', (_name, before, after) => {
  for (const [first, second] of [
    [before, after],
    [after, before],
  ] as const) {
    const session = new FleetSession()
    session.build(inputOf({ fleet: first }))
    const facts = (fleet: ReturnType<typeof fleetOf>) => fleet.nodes.map(({ key, source }) => ({ key, source }))
    expect(facts(session.build(inputOf({ fleet: second, commit: 'e'.repeat(40) })))).toEqual(
      facts(fleetOf({ fleet: second, commit: 'e'.repeat(40) })),
    )
  }
})

test('a session gives the same after a change of what another repository runs', () => {
  const { 'clusters/prod/flux.yaml': _flux, 'clusters/prod/apps.yaml': _apps, ...fleet } = withTeam()
  const at = (publish: string) => inputOf({ fleet, sources: [{ url: TEAM, files: { ...team, publish } }] })
  const session = new FleetSession()
  const [was, now] = [session.build(at('a')), session.build(at('b'))].map(({ nodes }) => nodes[1]?.source.artifact)
  expect(was?.pushedBy).toHaveLength(2)
  expect(now?.pushedBy).toEqual(
    fleetOf({ fleet, sources: [{ url: TEAM, files: { ...team, publish: 'b' } }] }).nodes[1]?.source.artifact?.pushedBy,
  )
})
