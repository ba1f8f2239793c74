import { expect, test } from 'vitest'
import { BailiwickError } from '../../src/base/errors.ts'
import { packSnapshot } from '../../src/git/tree.ts'
import type { Repository } from '../../src/github/contents/repositories.ts'
import { type Change, evaluateChange, evaluatingFleets } from '../../workers/fleets/evaluate-change.ts'
import type { Installation, WorkerContext } from '../../workers/fleets/worker-context.ts'

const URL = 'https://github.com/acme/home'
const own = { url: URL, owner: 'acme', repo: 'home', defaultBranch: 'main' } as Repository
const SYNC = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, url: ${URL}, ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 10m, prune: true, path: ./kubernetes/flux/cluster, sourceRef: {kind: GitRepository, name: flux-system}}
`

function installationOf(files: Record<string, string>, over: Partial<Installation>) {
  const snapshot = packSnapshot(Object.entries(files).map(([path, content]) => ({ path, content })))
  return {
    designation: async () => ({ fleets: [] }),
    repositories: async () => [own],
    isFleet: async () => Object.keys(files).some(path => path.startsWith('clusters/')),
    head: async () => 'a'.repeat(40),
    content: async () => snapshot,
    ...over,
  } as unknown as Installation
}

const placesIn = (files: Record<string, string>, over: Partial<Installation> = {}) =>
  evaluatingFleets(installationOf(files, over), URL)

const FOUND = [{ place: { repository: own, branch: 'main' }, alone: true }]
const ROOT = {
  'kubernetes/flux/cluster/flux-system/gotk-sync.yaml': SYNC,
  'kubernetes/flux/cluster/a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: a}\n',
}

test('a repository evaluates itself where a cluster starts in it, wherever that is', async () => {
  expect(await placesIn({ 'clusters/staging/a.yaml': '' })).toEqual(FOUND)
  expect(await placesIn(ROOT)).toEqual(FOUND)
})

test('one in which no cluster starts does not; of one that is too large to look into it is not known', async () => {
  expect(await placesIn({ 'deploy/a.yaml': 'kind: x\n' })).toEqual([])
  const content = () => Promise.reject(new BailiwickError('render-limits', 'the tree holds 300000 files'))
  const [itself] = await placesIn(ROOT, { content })
  expect(itself).toMatchObject({ ...FOUND[0], unread: { code: 'render-limits' } })
  expect(itself!.unread!.message).toContain('this repository contains a cluster: the tree holds 300000 files')
  await expect(
    placesIn(ROOT, { content: () => Promise.reject(new BailiwickError('github-unavailable', 'down')) }),
  ).rejects.toThrow('down')
})

test('where a fleet is designated, another layout of the repository itself is not looked for', async () => {
  const place = { repository: { ...own, url: 'https://github.com/acme/fleet' }, branch: 'main' }
  const designation = async () => ({ fleets: [place] })
  expect(await placesIn(ROOT, { designation: designation as never })).toEqual([{ place, alone: false }])
})

test('what may be merged does not pass where it is too large to look into; a push is no decision', async () => {
  const content = () => Promise.reject(new BailiwickError('render-limits', 'the tree holds 300000 files'))
  const evaluated = (change: Partial<Change>, over: Partial<Installation> = { content }) =>
    evaluateChange(
      { context: {} as WorkerContext, installation: installationOf({}, over) },
      { head: { url: URL, branch: 'main', commit: 'a'.repeat(40) }, ...change },
    )
  await expect(evaluated({ isGated: true })).rejects.toThrow('unknown whether this repository contains a cluster')
  expect(await evaluated({})).toEqual([])
  expect(await evaluated({ isGated: true }, {})).toEqual([])
})

test('an artifact that holds the repository starts a cluster of it, also where no signature proves that', async () => {
  const from = (source: string, kind: string) => ({
    'operated/a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: a}\n',
    'fi/fi.yaml': `apiVersion: fluxcd.controlplane.io/v1
kind: FluxInstance
metadata: {name: flux, namespace: flux-system}
spec:
  distribution: {version: 2.x}
  sync: {kind: ${kind}, url: "${source}", ref: ${kind === 'GitRepository' ? 'refs/heads/main' : 'latest'}, path: operated}
`,
    '.github/workflows/push.yaml': `on: {push: {branches: [main]}}
jobs:
  push:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: flux push artifact oci://ghcr.io/acme/home:latest --path=./ --source=x --revision=y
`,
  })
  expect(await placesIn(from('oci://ghcr.io/acme/home', 'OCIRepository'))).toEqual(FOUND)
  expect(await placesIn(from(URL, 'GitRepository'))).toEqual(FOUND)
  const signed = Object.entries(from('oci://ghcr.io/acme/home', 'OCIRepository')).map(([path, text]) => [
    path,
    path === 'fi/fi.yaml'
      ? `${text}  kustomize:
    patches:
      - target: {kind: OCIRepository}
        patch: |
          - op: add
            path: /spec/verify
            value:
              provider: cosign
              matchOIDCIdentity:
                - issuer: ^https://token\\.actions\\.githubusercontent\\.com$
                  subject: ^https://github\\.com/acme/home/\\.github/workflows/push\\.yaml@refs/heads/main$
`
      : text,
  ])
  expect(await placesIn(Object.fromEntries(signed))).toEqual(FOUND)
})
