import { describe, expect, test } from 'vitest'
import { instanceText } from '../../../fleet/clusters/instance-text.ts'
import { configMap, syncText } from '../../../fleet/clusters/sync-text.ts'
import { evaluationOf, type Files, type Given, said } from '../../../fleet/fleet-of.ts'
import { FLEET_URL, fleetFiles, miniFleet } from '../../../fleet/mini-fleet.ts'

const OTHER = 'https://github.com/acme/other'
const REASON = 'no access'

const source = (spec: string, kind = 'GitRepository') => `---
apiVersion: source.toolkit.fluxcd.io/v1
kind: ${kind}
metadata: {name: other, namespace: flux-system}
spec: {interval: 5m, ${spec}}
`
const git = (ref: string, url = OTHER) => source(`url: "${url}", ref: {${ref}}`)
const oci = (ref: string) => source(`url: "oci://ghcr.io/acme/other", ref: {${ref}}`, 'OCIRepository')
const kustomization = (more = '', name = 'other', kind = 'GitRepository') => `---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: ${name}, namespace: flux-system}
spec: {path: ./a, prune: true, interval: 5m, serviceAccountName: kustomize-controller, sourceRef: {kind: ${kind}, name: other}${more}}
`
/** The fleet with more in what the cluster starts from; of the other repository only main can be read. */
const given = (text: string): Given =>
  miniFleetWith({ 'clusters/staging/tenants.yaml': `${fleetFiles['clusters/staging/tenants.yaml']}${text}` })

function miniFleetWith(fleet: Files): Given {
  const { sources = [], ...rest } = miniFleet({ fleet })
  const refs = [
    { branch: 'next' },
    { name: 'refs/pull/1/head' },
    { tag: 'v1' },
    { tag: 'v2' },
    { commit: 'a'.repeat(40) },
  ]
  return {
    ...rest,
    sources: [
      ...sources,
      { url: OTHER, files: { 'a/a.yaml': configMap('a') } },
      { url: OTHER, ref: { tag: 'seen' }, files: { 'a/a.yaml': configMap('a') } },
      { url: OTHER, ref: { tag: 'seen2' }, files: { 'a/a.yaml': configMap('b') } },
    ],
    opaque: refs.map(ref => ({ url: OTHER, ref, reason: REASON })),
  }
}
const approvals = (head: string, base: string) =>
  evaluationOf(given(head), { base: given(base) }).verdict.requiredApprovals.map(
    ({ rule, message }) => `${rule} ${message}`,
  )

const asks = (what: string) => [
  `source-opaque Kustomization flux-system/other would follow "${what}", which is not visible, so nothing of it is evaluated: ${REASON}`,
]
const NEXT = git('branch: next') + kustomization()
const OCI = oci('tag: v1') + kustomization('', 'other', 'OCIRepository')
const ASKS_OCI = [
  expect.stringContaining('source-opaque Kustomization flux-system/other would follow "oci://ghcr.io/acme/other"'),
]

test('a new Kustomization over what is not visible asks for an approval, whatever it follows', () => {
  expect(approvals(NEXT, '')).toEqual(asks(`${OTHER}#next`))
  expect(approvals(git('tag: v1') + kustomization(), '')).toEqual(asks(`${OTHER}#v1`))
  expect(approvals(git(`commit: ${'a'.repeat(40)}`) + kustomization(), '')).toEqual(asks(`${OTHER}#${'a'.repeat(40)}`))
  expect(approvals(OCI, '')).toEqual(ASKS_OCI)
})

test.each<[string, string, string]>([
  ['the revision', git('branch: main') + kustomization(), NEXT],
  ['the tag', git('tag: v1') + kustomization(), git('tag: v2') + kustomization()],
  ['the path', NEXT, NEXT.replace('./a', './b')],
  ['the namespace', NEXT, NEXT.replace('path:', 'targetNamespace: kube-system, path:')],
  ['the account', NEXT, NEXT.replace('kustomize-controller', 'admin')],
  ['a patch', NEXT, NEXT.replace('path:', 'patches: [{patch: "[]", target: {kind: Deployment}}], path:')],
  [
    'files of it that were left out',
    git('branch: next').replace('interval', 'ignore: "b", interval') + kustomization(),
    NEXT,
  ],
  ['that it acts at all', NEXT.replace('path:', 'suspend: true, path:'), NEXT],
])('a change of what is not visible asks for an approval: %s', (_what, before, after) => {
  expect(approvals(after, before)).toHaveLength(1)
  expect(approvals(after, before)[0]).toMatch(/^source-opaque Kustomization flux-system\/other would follow /)
})

test.each<[string, string]>([
  ['tag', 'tag: v2'],
  ['digest', `digest: "sha256:${'a'.repeat(64)}"`],
  ['range', 'semver: ">=1.0.0"'],
])('another revision of an artifact asks for an approval: %s', (_what, ref) => {
  expect(approvals(oci(ref) + kustomization('', 'other', 'OCIRepository'), OCI)).toEqual(ASKS_OCI)
})

test('what stood so is listed, and asks nobody', () => {
  expect(approvals(NEXT, NEXT)).toEqual([])
  expect(approvals(NEXT.replace('interval: 5m', 'interval: 9m'), NEXT)).toEqual([])
  expect(approvals(git('branch: next') + kustomization('', 'renamed'), NEXT)).toEqual([])
  expect(approvals(OCI.replaceAll('interval: 5m', 'interval: 9m'), OCI)).toEqual([])
  expect(approvals('', NEXT)).toEqual([])
  expect(evaluationOf(given(NEXT), { base: given(NEXT) }).verdict.summary).toContain('its source is not visible.')
})

test('what is visible, and what acts for nobody yet, asks nobody', () => {
  expect(approvals(git('branch: main') + kustomization(), '')).toEqual([])
  expect(approvals(git('branch: main') + kustomization(), NEXT)).toEqual([])
  expect(approvals(NEXT.replace('path:', 'suspend: true, path:'), '')).toEqual([])
  expect(approvals(git('branch: next'), '')).toEqual([])
})

describe('below what is suspended', () => {
  const stop = 'suspend: true, path:'
  const TAG = git('tag: seen') + kustomization()
  /** The fleet with that below a Kustomization `above`. */
  const below = (text: string, above = 'path:'): Given =>
    miniFleetWith({
      'clusters/staging/tenants.yaml': `${fleetFiles['clusters/staging/tenants.yaml']}${kustomization('', 'above')
        .replace('{kind: GitRepository, name: other}', '{kind: GitRepository, name: flux-system}')
        .replace('./a', './above')
        .replace('path:', above)}`,
      'above/other.yaml': text,
    })
  const asked = (head: Given, base: Given) =>
    evaluationOf(head, { base }).verdict.requiredApprovals.map(({ rule }) => rule)

  test.each([
    ['what is not visible', NEXT, 'source-opaque'],
    ['a tag that can be moved', TAG, 'source-mutable-ref'],
  ])('%s asks for an approval once it is applied', (_what, text, rule) => {
    expect(asked(below(text), below(text, stop))).toEqual([rule])
    expect(asked(below(text), below(text.replace('path:', stop), stop))).toEqual([rule])
    expect(asked(below(text, stop), below('', stop))).toEqual([rule])
    expect(asked(below(text, stop), below(text, stop))).toEqual([])
    expect(asked(below(text, stop), below(text))).toEqual([])
    expect(asked(below(text), below(text))).toEqual([])
  })

  test('a Kustomization that git suspends there goes on, and may follow a source that moves', () => {
    const suspended = (ref: string) => git(ref) + kustomization().replace('path:', stop)
    expect(asked(below(suspended('branch: next'), stop), below(suspended('branch: main'), stop))).toEqual([
      'source-opaque',
    ])
    expect(asked(below(suspended('branch: next')), below(suspended('branch: main')))).toEqual([])
  })
})

test('a tag that is visible can be moved: it asks once, and not for each next one', () => {
  const tag = (name: string) => git(`tag: ${name}`) + kustomization()
  const moved = `source-mutable-ref Kustomization flux-system/other would follow "${OTHER}#seen", which can be changed by everyone who can push to it, without an evaluation`
  expect(approvals(tag('seen'), '')).toEqual([moved])
  expect(approvals(tag('seen'), git('branch: main') + kustomization())).toEqual([moved])
  expect(approvals(tag('seen2'), tag('seen'))).toEqual([])
})

test('several of one source are one entry', () => {
  const [first, ...more] = approvals(NEXT + kustomization('', 'second').replace('./a', './b'), '')
  expect(first).toContain('Kustomization flux-system/other (and 1 more) would follow')
  expect(more).toEqual([])
})

const generator = (from: string) => `---
apiVersion: source.extensions.fluxcd.io/v1beta1
kind: ArtifactGenerator
metadata: {name: made, namespace: flux-system}
spec:
  sources: [{alias: one, kind: GitRepository, name: other}]
  artifacts: [{name: other, copy: [{from: "@one/${from}/**", to: "@artifact/"}]}]
`

test('an artifact of a generator is known by its name, and by what the generator puts into it', () => {
  const made = kustomization('', 'other', 'ExternalArtifact')
  expect(approvals(made + generator('a'), made + generator('a'))).toEqual([])
  const asked = [expect.stringContaining('Kustomization flux-system/other would follow "ExternalArtifact/flux-system/')]
  expect(approvals(made + generator('b'), made + generator('a'))).toEqual(asked)
  const renamed = made.replace('ExternalArtifact, name: other', 'ExternalArtifact, name: another')
  expect(approvals(renamed + generator('a'), made + generator('a'))).toEqual(asked)
})

test('the head of a pull request is a violation of the platform, too', () => {
  const head = given(git('name: refs/pull/1/head') + kustomization())
  expect(said(evaluationOf(head, { base: given('') }))).toEqual(['source-pull-ref clusters/staging/tenants.yaml:18'])
  expect(said(evaluationOf(head, { base: head }))).toEqual([])
})

test('the head of a pull request that a FluxInstance starts with is one', () => {
  const fleet = (ref: string): Files => ({
    'flux/instance.yaml': instanceText({ path: 'hub', url: FLEET_URL, ref }),
    'hub/a.yaml': configMap('a'),
    'stays/flux-system/gotk-sync.yaml': syncText({ path: './stays', url: FLEET_URL }),
  })
  const base = { fleet: fleet('refs/heads/main') }
  const head = {
    fleet: fleet('refs/pull/7/head'),
    opaque: [{ url: FLEET_URL, ref: { name: 'refs/pull/7/head' }, reason: REASON }],
  }
  expect(said(evaluationOf(head, { base })).join()).toContain('source-pull-ref flux/instance.yaml')
})
