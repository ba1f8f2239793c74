import { expect, test } from 'vitest'
import { type ClusterWork, parseClusterWork } from '../../src/cluster/channel/cluster-work.ts'
import type { Registry } from '../../src/cluster/registry.ts'
import type { RegistryRef } from '../../src/fleet/model/source-ref.ts'
import type { Repository } from '../../src/github/contents/repositories.ts'
import { workInstallation } from '../../workers/apply/apply-work.ts'

const URL = 'oci://ghcr.io/acme/app'
const digestOf = (digit: string) => `sha256:${digit.repeat(64)}`
const REFS: readonly RegistryRef[] = [
  { tag: 'v1' },
  { tag: 'v1', layer: 'text/x' },
  { tag: 'v1', layer: 'text/x', copied: true },
  { tag: 'v1', anonymous: true },
  { semver: '1.x' },
  { semver: '2.x' },
  { semver: '2.x', semverFilter: 'rc' },
  { digest: digestOf('0') },
]

const ADOPTED = { repository: 7, commit: 'b'.repeat(40), file: 'app.yaml', url: 'https://github.com/acme/app' }

test('a worker in a cluster gets each artifact that the web process evaluated, whatever is followed, with its tag', async () => {
  const artifacts = REFS.map((registry, index) => ({
    url: URL,
    ref: { registry },
    digest: digestOf(String(index)),
    ...(registry.semver ? { tag: `${index}.0.0` } : {}),
  }))
  const work: ClusterWork = {
    ...{ cluster: 'staging', engine: '1', revisionSet: 'set', repositories: [], heads: [], artifacts, parents: [] },
    fleet: { url: 'https://github.com/acme/fleet', branch: 'main', commit: 'a'.repeat(40) },
    ...{ names: [], adopted: [ADOPTED], nodes: [], apply: [], held: [], waiting: [] },
    prunes: { share: 30, atLeast: 10, approved: [] },
  }
  const unasked = { registry: {} as Registry, store: undefined as never, octokit: () => undefined as never }
  const { registry, isAdopted } = workInstallation(parseClusterWork(JSON.stringify(work)), unasked)
  for (const [index, followed] of REFS.entries()) {
    const { url: _url, ref: _ref, ...head } = artifacts[index]!
    expect(await registry.headOf(URL, followed), JSON.stringify(followed)).toEqual(head)
  }
  expect(await registry.headOf(URL, { semver: '3.x' })).toBeUndefined()
  expect(await registry.headOf(URL, { tag: 'v2' })).toBeUndefined()
  // what the web process found out about declarations, and nothing else
  const declared = { ...ADOPTED, repository: { id: ADOPTED.repository } as Repository }
  expect(await isAdopted(declared, { owner: 'acme', repo: 'app' })).toBe(true)
  expect(await isAdopted({ ...declared, file: 'other.yaml' }, { owner: 'acme', repo: 'app' })).toBe(false)
})
