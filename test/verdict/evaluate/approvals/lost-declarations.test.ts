import { expect, test } from 'vitest'
import { configMap } from '../../../fleet/clusters/sync-text.ts'
import { evaluationOf, type Given } from '../../../fleet/fleet-of.ts'
import { fleetFiles, miniFleet } from '../../../fleet/mini-fleet.ts'

const FILE = '.github/bailiwick.yaml'
const MIRROR = 'https://git.internal/acme/apps'
const APPS = 'https://github.com/acme/apps'
const kustomization = (name: string, source: string) => `---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: ${name}, namespace: flux-system}
spec: {path: ./, prune: true, interval: 5m, serviceAccountName: kustomize-controller, sourceRef: {kind: GitRepository, name: ${source}}}
`
const mirrored = `---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: mirrored, namespace: flux-system}
spec: {interval: 5m, url: "${MIRROR}", ref: {branch: main}}
`
const packed = `---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: packed, namespace: flux-system}
spec: {interval: 5m, url: "oci://ghcr.io/acme/manifests", ref: {tag: v1}}
`
const SOURCES = `sources:\n  - {kind: GitRepository, namespace: flux-system, name: by-hand, url: "${APPS}", ref: {branch: main}}\n`
const ALIASES = `aliases:\n  - {url: "${APPS}", addresses: ["${MIRROR}"]}\n`

/** A fleet with two Kustomizations whose content is seen only because its own file says where it is. */
const given = (file: string): Given => {
  const { sources = [], ...rest } = miniFleet({
    fleet: {
      [FILE]: file,
      'clusters/staging/tenants.yaml': `${fleetFiles['clusters/staging/tenants.yaml']}${kustomization('one', 'by-hand')}${kustomization('two', 'mirrored')}${kustomization('three', 'packed').replace('GitRepository', 'OCIRepository')}${packed}${mirrored}`,
    },
  })
  return {
    ...rest,
    sources: [...sources, { url: APPS, files: { 'a.yaml': configMap('a') } }],
    opaque: [{ url: MIRROR, ref: { branch: 'main' }, reason: 'no access' }],
  }
}
const approvals = (head: string, base: string) =>
  evaluationOf(given(head), { base: given(base) })
    .verdict.requiredApprovals.filter(({ rule }) => rule !== 'gate-config-change')
    .map(({ rule, path, message }) => `${rule} ${path}: ${message}`)

const BOTH = SOURCES + ALIASES

test('an entry of sources that goes names what is evaluated only because of it', () => {
  const lost =
    'source-opaque .github/bailiwick.yaml: Kustomization flux-system/one follows GitRepository flux-system/by-hand, which .github/bailiwick.yaml no longer declares: nothing of it would be evaluated'
  expect(approvals(ALIASES, BOTH)).toEqual([lost])
  expect(approvals(BOTH.replace('ref: {branch: main}', 'ref: {branch: next}'), BOTH)).toEqual([lost])
  expect(approvals(BOTH.replace('name: by-hand', 'name: by-nobody'), BOTH)).toEqual([lost])
  expect(approvals(BOTH.replace('ref:', 'clusters: [production], ref:'), BOTH)).toEqual([lost])
})

test('an entry of aliases that goes names what is evaluated only because of it', () => {
  const lost = `source-opaque .github/bailiwick.yaml: Kustomization flux-system/two follows "${MIRROR}", whose repository .github/bailiwick.yaml no longer declares: nothing of it would be evaluated`
  expect(approvals(SOURCES, BOTH)).toEqual([lost])
  expect(approvals(BOTH.replace(MIRROR, `${MIRROR}2`), BOTH)).toEqual([lost])
  expect(
    approvals(
      BOTH.replace(
        'aliases:\n  - {url: "https://github.com/acme/apps"',
        'aliases:\n  - {url: "https://github.com/acme/other"',
      ),
      BOTH,
    ),
  ).toEqual([lost])
})

test('an entry of artifacts that goes names what is evaluated only because of it', () => {
  const artifacts = 'artifacts:\n  - {url: "oci://ghcr.io/acme/manifests:v1", path: ./limits}\n'
  const lost =
    'source-opaque .github/bailiwick.yaml: Kustomization flux-system/three follows "ghcr.io/acme/manifests", whose content .github/bailiwick.yaml no longer declares: nothing of it would be evaluated'
  expect(approvals(BOTH, BOTH + artifacts)).toEqual([lost])
  expect(approvals(BOTH + artifacts.replace('limits', 'other'), BOTH + artifacts)).toEqual([lost])
  expect(approvals(BOTH + artifacts, BOTH + artifacts)).toEqual([])
})

test('once it is merged it is listed as not visible, never silent', () => {
  const { verdict } = evaluationOf(given('# nothing\n'), { base: given('# nothing\n') })
  expect(verdict.notSeen.map(({ source }) => source)).toEqual([
    'GitRepository/flux-system/by-hand',
    'GitRepository/flux-system/mirrored',
    'OCIRepository/flux-system/packed',
  ])
  expect(verdict.summary).toContain('3 of 7 Kustomizations were not checked: their sources are not visible.')
})

test('entries that nothing follows, or that only move, name nothing', () => {
  expect(approvals(`# comment\n${ALIASES}${SOURCES}`, BOTH)).toEqual([])
  const unused = `sources:\n  - {kind: GitRepository, namespace: flux-system, name: unused, url: "${APPS}"}\n`
  expect(approvals(ALIASES, ALIASES + unused)).toEqual([])
  expect(approvals(BOTH, ALIASES)).toEqual([])
})
