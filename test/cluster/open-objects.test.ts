import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ClusterClient } from '../../src/cluster/client.ts'
import type { Kms } from '../../src/cluster/open-kms.ts'
import { sealValue } from '../../src/flux/sops/seal-document.ts'
import type { EvaluatedNode } from '../../src/rules/model/finding.ts'
import type { ApprovedNode } from '../../src/verdict/approve.ts'
import { applyNode, openObjects } from '../../workers/apply/apply-node.ts'
import { OpenedMemory, openSealed } from '../../workers/apply/open-sealed.ts'
import { evaluationOf, type fleetOf } from '../fleet/fleet-of.ts'
import { type ClusterUnderTest, create, createTenant, haveAssets, startUnderTest } from './cluster-under-test.ts'

const FIXTURES = join(import.meta.dirname, '../fixtures/sops')
const fixture = (name: string) => readFileSync(join(FIXTURES, name), 'utf8')
const kustomization = (decryption: string) => `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {url: 'https://github.com/acme/fleet', ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1h, path: ./clusters/staging, prune: true, ${decryption} sourceRef: {kind: GitRepository, name: flux-system}}
`
const WITH = 'decryption: {provider: sops, secretRef: {name: sops-keys}},'
const fleet = (secrets: Record<string, string>, decryption = WITH) => ({
  fleet: { 'clusters/staging/flux-system/gotk-sync.yaml': kustomization(decryption), ...secrets },
})
const secret = (name: string) => fixture(name).replace('metadata:', 'metadata:\n  namespace: apps')
const SECRETS = Object.fromEntries(
  ['age', 'age-pq', 'pgp'].map(name => [`clusters/staging/${name}.yaml`, secret(`${name}.yaml`)]),
)
const ARN = 'kms:\n  - {arn: "arn:aws:kms:eu-west-1:1:key/a", enc: a}'
const withoutEmpty = (text: string) => text.replace(/^ {2}\w+: \[\]\n/gm, '')
/** The same file, but for the recipients. */
const byCloud = (recipients: string) =>
  withoutEmpty(secret('age.yaml')).replace(/^ {2}age:[\s\S]*?(?=^ {2}\w)/m, `  ${recipients}\n`)
const valuesOf = ({ sealed }: Awaited<ReturnType<typeof openSealed>>) =>
  [...sealed.values()].flatMap(values => [...values.values()])
/** Lines that SOPS did not write. */
const filesOf = (count: number, size: number) =>
  Array.from({ length: count }, (_, index) => ({
    path: `f${index}`,
    format: 'dotenv',
    text: `${'a=\n'.repeat(size / 3)}`.padEnd(size, '\n'),
  }))
const nodeOfFleet = (given: Parameters<typeof fleetOf>[0]) => evaluationOf(given).nodes[0]!

test.each<[string, Record<string, string>, string, string[], number?]>([
  ['all in order', SECRETS, WITH, []],
  ['without keys', SECRETS, '', ['SOPS encryption without spec.decryption.secretRef']],
  [
    'keys of the controller',
    SECRETS,
    'decryption: {provider: sops},',
    ['SOPS encryption without spec.decryption.secretRef'],
  ],
  [
    'another account for keys',
    SECRETS,
    'decryption: {provider: sops, serviceAccountName: x, secretRef: {name: a}},',
    ['spec.decryption.serviceAccountName'],
  ],
  [
    'a Role that is encrypted',
    {
      'clusters/staging/role.yaml': secret('age.yaml')
        .replace('kind: Secret', 'kind: Widget')
        .replace('v1', 'acme.test/v1'),
    },
    WITH,
    ['SOPS encryption outside of the data of a Secret or ConfigMap'],
    1,
  ],
  [
    'an encrypted type of a Secret',
    {
      'clusters/staging/a.yaml': `type: ${/ENC\[.*\]/.exec(fixture('age.yaml'))![0]}\n${secret('age.yaml')}`,
    },
    WITH,
    ['SOPS encryption outside of the data of a Secret or ConfigMap'],
    1,
  ],
  [
    'a key of a cloud that the worker cannot ask',
    { 'clusters/staging/a.yaml': byCloud('hckms:\n  - {key_id: "a:b", enc: a}') },
    WITH,
    ['SOPS encryption without an age or PGP recipient (Huawei Cloud KMS)'],
  ],
  [
    'a key of a cloud where Flux decrypts nothing',
    { 'clusters/staging/a.yaml': byCloud(ARN) },
    '',
    ['SOPS encryption without spec.decryption.secretRef'],
  ],
])(
  'what the worker opens is said before it is applied: %s',
  (_, secrets, decryption, refused, seals = refused.length === 0 ? 3 : 0) => {
    const node = nodeOfFleet(fleet(secrets, decryption))
    expect(node.refused).toEqual(refused)
    expect(node.decryption?.seals.length ?? 0).toBe(seals)
  },
)

test.each([WITH, 'decryption: {provider: sops},'])(
  'keys of services are said, for whoever knows what is listed: %s',
  spec => {
    const vault = 'hc_vault:\n  - {vault_address: "https://v/", engine_path: sops, key_name: k, enc: a}'
    const node = nodeOfFleet(fleet({ 'clusters/staging/a.yaml': byCloud(`${ARN}\n  ${vault}`) }, spec))
    expect(node.refused).toEqual([])
    expect(node.decryption?.services).toEqual([
      [
        { service: 'aws', key: 'arn:aws:kms:eu-west-1:1:key/a' },
        { service: 'vault', key: 'https://v/v1/sops/keys/k' },
      ],
    ])
  },
)

test('without a Secret, an object is opened by the services that may be asked, and by nobody else', async () => {
  const plain = randomBytes(32)
  const enc = JSON.stringify({ arn: 'arn:aws:kms:eu-west-1:1:key/a', enc: 'ZQ==' })
  const text = `apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: apps}\nstringData: {key: "${sealValue('value', plain, 'stringData:key:', randomBytes)}"}\nsops: {kms: [${enc}], lastmodified: x, mac: "${sealValue('mac', plain, 'x', randomBytes)}", version: x, encrypted_regex: ^stringData$}\n`
  const evaluated = nodeOfFleet(fleet({ 'clusters/staging/a.yaml': text }, 'decryption: {provider: sops},'))
  const node = { ...evaluated, namespace: 'apps' } as EvaluatedNode
  // nothing is read on the cluster
  const client = {} as ClusterClient
  const asked: unknown[] = []
  const kms = (namespace: string): Kms => ({
    isListed: one => one === namespace,
    open: async (...question) => {
      asked.push(question)
      return plain
    },
  })
  const memory = new OpenedMemory()
  expect(valuesOf(await openSealed(client, node, kms('apps'), memory))).toEqual(['value'])
  expect(asked).toEqual([['apps', { service: 'aws', key: 'arn:aws:kms:eu-west-1:1:key/a', enc: 'ZQ==' }]])
  await expect(openSealed(client, node, kms('other'))).rejects.toThrow('none of the keys opens it')
  await expect(openSealed(client, node)).rejects.toThrow('none of the keys opens it')
  // what is known of the same is not asked for again
  expect(valuesOf(await openSealed(client, node, kms('apps'), memory))).toEqual(['value'])
  expect(asked).toHaveLength(1)
  await expect(openSealed(client, { ...node, user: 'other' }, undefined, memory)).rejects.toThrow('none of the keys')
})

test('a key of a cloud beside one of age is no obstacle', () => {
  const both = withoutEmpty(secret('age.yaml')).replace(/^ {2}age:/m, `  ${ARN}\n  age:`)
  expect(nodeOfFleet(fleet({ 'clusters/staging/a.yaml': both })).refused).toEqual([])
})

describe.skipIf(!haveAssets())('on a cluster', () => {
  let under: ClusterUnderTest
  let user = ''
  beforeAll(async () => {
    under = await startUnderTest()
    user = await createTenant(under.server, 'apps', 'dev-team')
    const data = Object.fromEntries(
      Object.entries({ 'age.agekey': 'age.txt', 'pq.agekey': 'age-pq.txt', 'team.asc': 'pgp.asc' }).map(
        ([key, name]) => [key, Buffer.from(fixture(name)).toString('base64')],
      ),
    )
    await create(under.server, '/api/v1/namespaces/apps/secrets', { metadata: { name: 'sops-keys' }, data })
    await create(under.server, '/api/v1/namespaces/apps/secrets', {
      metadata: { name: 'no-keys' },
      data: { x: 'eA==' },
    })
  }, 60_000)
  afterAll(() => under?.stop())

  const node = (change: Partial<EvaluatedNode> = {}): EvaluatedNode => ({
    ...nodeOfFleet(fleet(SECRETS)),
    namespace: 'apps',
    user,
    ...change,
  })
  const named = (name: string) => node({ decryption: { ...node().decryption!, secret: name } })

  test('values are opened with the keys of the Secret, read as the account', async () => {
    expect(valuesOf(await openSealed(under.client, node()))).toEqual(Array(3).fill('value'))
  })

  test('what is encrypted is never applied', () => {
    expect(() => openObjects(node() as unknown as ApprovedNode)).toThrow('were not decrypted and evaluated')
  })

  test.each(['source', 'include'])('nothing is applied before source-controller verified its %s', async which => {
    const verified = {
      id: 'GitRepository/apps/app',
      url: 'https://x/a',
      commit: 'a'.repeat(40),
      verify: '{"mode":"HEAD"}',
    }
    const { verify: _verify, ...plain } = verified
    const source = which === 'source' ? verified : { ...plain, includes: [verified] }
    const given = { ...node(), source: { ...source, opaque: null }, decryption: undefined } as unknown as ApprovedNode
    const applying = applyNode(under.client, given, undefined, AbortSignal.timeout(30_000))
    await expect(applying).rejects.toThrow('its source GitRepository/apps/app is not verified: the cluster has no kind')
  })

  test.each<[string, object[], string]>([
    ['64 files', filesOf(64, 10), 'none of the keys opens it'],
    ['65 files', filesOf(65, 10), 'more than 64 encrypted files'],
    ['5 MiB', filesOf(1, 5 * 1024 * 1024), 'none of the keys opens it'],
    ['more than 5 MiB', filesOf(1, 5 * 1024 * 1024 + 1), 'f0 has more than 5242880 bytes'],
    [
      'more than 5 MiB in other letters',
      [{ path: 'f0', format: 'dotenv', text: 'é'.repeat(3_000_000) }],
      'f0 has more',
    ],
  ])('encrypted files of a generator: %s', async (_, files, message) => {
    const decryption = { seals: [], files } as unknown as EvaluatedNode['decryption'] & object
    await expect(openSealed({} as ClusterClient, node({ decryption }))).rejects.toThrow(message)
  })

  test.each([1_000, 1_001])('%i encrypted objects', async count => {
    const [seal] = node().decryption!.seals
    const seals = Array.from({ length: count }, () => seal!)
    const opening = openSealed({} as ClusterClient, node({ decryption: { seals } }))
    await expect(opening).rejects.toThrow(
      count > 1_000 ? 'more than 1000 encrypted objects' : 'none of the keys opens it',
    )
  })

  test('a Secret that is missing, holds no key, or is not the account’s fails this node, and says so', async () => {
    await expect(openSealed(under.client, named('missing'))).rejects.toThrow(
      'Secret apps/missing, which spec.decryption names: does not exist',
    )
    const large = { 'x.agekey': 'A'.repeat(64 * 1024) }
    await create(under.server, '/api/v1/namespaces/apps/secrets', { metadata: { name: 'large' }, data: large })
    await expect(openSealed(under.client, named('large'))).rejects.toThrow('holds no key')
    const larger = { 'x.agekey': 'A'.repeat(64 * 1024 + 4) }
    await create(under.server, '/api/v1/namespaces/apps/secrets', { metadata: { name: 'larger' }, data: larger })
    await expect(openSealed(under.client, named('larger'))).rejects.toThrow('x.agekey is larger than 65536 bytes')
    await expect(openSealed(under.client, named('no-keys'))).rejects.toThrow('holds no key')
    await expect(openSealed(under.client, named('../configmaps'))).rejects.toMatchObject({ code: 'cluster-invalid' })
    const other = await createTenant(under.server, 'other', 'ops-team')
    await expect(openSealed(under.client, node({ user: other }))).rejects.toMatchObject({ code: 'cluster-forbidden' })
  })
})
