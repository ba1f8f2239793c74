import { expect, test } from 'vitest'
import type { ClusterClient } from '../../src/cluster/client.ts'
import { assertVerified } from '../../src/cluster/refused-targets.ts'
import type { Json } from '../../src/kube/node.ts'

const DIGEST = `sha256:${'d'.repeat(64)}`
const VERIFY = { matchOIDCIdentity: [{ issuer: '^https://issuer$', subject: '^workflow$' }] }
const ID = 'OCIRepository/flux-system/app'

interface Live {
  readonly verify?: object | null
  readonly generation?: number
  readonly observed?: number
  readonly condition?: object
  readonly revision?: string
  readonly name?: string
}

function live({ verify = VERIFY, generation = 3, observed = 3, condition = {}, revision, name = 'app' }: Live): Json {
  const verified = { type: 'SourceVerified', status: 'True', observedGeneration: 3, ...condition }
  return {
    metadata: { name, generation },
    spec: verify === null ? {} : { verify: { provider: 'cosign', ...verify } },
    status: {
      observedGeneration: observed,
      conditions: [{ type: 'Ready', status: 'True', observedGeneration: 3 }, verified],
      artifact: { revision: revision ?? `v1@${DIGEST}` },
    },
  } as unknown as Json
}

const asked: unknown[] = []
function clientWith(status: number, body: Json): ClusterClient {
  const resource = { apiVersion: 'source.toolkit.fluxcd.io/v1beta2', plural: 'ocirepositories' }
  const client = {
    discovery: { findAnyVersion: async () => resource },
    request: async (actor: unknown, method: string, path: string) => {
      asked.push([actor, method, path])
      return { status, body }
    },
  }
  return client as unknown as ClusterClient
}

const check = (body: Json, status = 200, source: Partial<{ id: string; commit: string }> = {}) =>
  assertVerified(
    clientWith(status, body),
    { user: 'system:serviceaccount:flux-system:app' },
    { id: ID, commit: DIGEST, verify: JSON.stringify(VERIFY), ...source },
    AbortSignal.timeout(1000),
  )

test('what source-controller verified at this revision passes, read as the account', async () => {
  await check(live({}))
  expect(asked.at(-1)).toEqual([
    { user: 'system:serviceaccount:flux-system:app' },
    'GET',
    '/apis/source.toolkit.fluxcd.io/v1beta2/namespaces/flux-system/ocirepositories/app',
  ])
  await check(live({ revision: DIGEST }))
  const commit = 'a'.repeat(40)
  await check(live({ revision: `main@sha1:${commit}`, verify: { mode: 'HEAD', ...VERIFY } }), 200, { commit })
})

test.each<[string, Live, string]>([
  ['another revision', { revision: `v1@sha256:${'e'.repeat(64)}` }, 'verified another revision'],
  ['a revision that only ends so', { revision: `v1@x${DIGEST}` }, 'verified another revision'],
  ['no artifact', { revision: '' }, 'verified another revision'],
  ['a signature that is not accepted', { condition: { status: 'False' } }, 'did not accept its signature'],
  ['an unknown signature', { condition: { status: 'Unknown' } }, 'did not accept its signature'],
  ['a condition of an earlier spec', { condition: { observedGeneration: 2 } }, 'has not verified it yet'],
  ['a condition without a generation', { condition: { observedGeneration: undefined } }, 'has not verified it yet'],
  ['a status of an earlier spec', { observed: 2 }, 'has not verified it yet'],
  ['another condition', { condition: { type: 'Verified' } }, 'has not verified it yet'],
  ['no spec.verify', { verify: null }, 'is not the evaluated one'],
  ['a weaker spec.verify', { verify: {} }, 'is not the evaluated one'],
  ['another provider', { verify: { ...VERIFY, provider: 'notation' } }, 'is not the evaluated one'],
  ['another field', { verify: { ...VERIFY, secretRef: { name: 'mine' } } }, 'is not the evaluated one'],
  ['another object', { name: 'other' }, 'did not answer with it'],
])('not verified: %s', async (_, changes, why) => {
  await expect(check(live(changes))).rejects.toMatchObject({
    code: 'cluster-invalid',
    message: expect.stringContaining(why),
  })
})

test('a source that is not there is not verified', async () => {
  await expect(check({}, 404)).rejects.toThrow('the source is not on the cluster yet')
})
