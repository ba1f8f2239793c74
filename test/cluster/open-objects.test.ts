import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApprovedNode } from '../../src/approval/approve.ts'
import type { ClusterClient } from '../../src/cluster/client.ts'
import { jsonAt } from '../../src/cluster/json-at.ts'
import type { Kms } from '../../src/kms/open-kms.ts'
import { sealValue } from '../../src/sops/seal-value.ts'
import { openObjects } from '../../workers/apply/open-objects.ts'
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
const nodeOfFleet = (given: Parameters<typeof fleetOf>[0]) => evaluationOf(given).nodes[0]!

test.each<[string, Record<string, string>, string, string[]]>([
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
  ],
  [
    'an encrypted type of a Secret',
    {
      'clusters/staging/a.yaml': `type: ${/ENC\[.*\]/.exec(fixture('age.yaml'))![0]}\n${secret('age.yaml')}`,
    },
    WITH,
    ['SOPS encryption outside of the data of a Secret or ConfigMap'],
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
])('what the worker opens is said before it is applied: %s', (_, secrets, decryption, refused) => {
  const node = nodeOfFleet(fleet(secrets, decryption))
  expect(node.refused).toEqual(refused)
  expect(node.decryption?.seals.length ?? 0).toBe(refused.length === 0 ? 3 : 0)
})

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
  const text = `apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: apps}\nstringData: {key: "${sealValue('value', plain, 'stringData:key:', randomBytes)}"}\nsops: {kms: [${enc}], lastmodified: x, mac: "${sealValue('mac', plain, 'x', randomBytes)}", version: x}\n`
  const evaluated = nodeOfFleet(fleet({ 'clusters/staging/a.yaml': text }, 'decryption: {provider: sops},'))
  const node = { ...evaluated, namespace: 'apps' } as unknown as ApprovedNode
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
  const { objects, confidential } = await openObjects(client, node, kms('apps'))
  const [secret] = objects.filter(object => jsonAt(object, 'kind') === 'Secret')
  expect(jsonAt(secret!, 'data')).toEqual({ key: Buffer.from('value').toString('base64') })
  expect([...confidential]).toEqual([secret])
  expect(asked).toEqual([['apps', { service: 'aws', key: 'arn:aws:kms:eu-west-1:1:key/a', enc: 'ZQ==' }]])
  await expect(openObjects(client, node, kms('other'))).rejects.toThrow('none of the keys opens it')
  await expect(openObjects(client, node)).rejects.toThrow('none of the keys opens it')
  expect(asked).toHaveLength(1)
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

  const node = (change: Partial<ApprovedNode> = {}) =>
    ({ ...nodeOfFleet(fleet(SECRETS)), namespace: 'apps', user, ...change }) as ApprovedNode
  const named = (name: string) => node({ decryption: { ...node().decryption!, secret: name } })

  test('values are opened with the keys of the Secret, read as the account', async () => {
    const { objects, confidential } = await openObjects(under.client, node())
    const secrets = objects.filter(object => jsonAt(object, 'kind') === 'Secret')
    expect(secrets.map(one => jsonAt(one, 'data'))).toEqual(
      Array(3).fill({ key: Buffer.from('value').toString('base64') }),
    )
    expect(secrets.map(one => jsonAt(one, 'sops'))).toEqual(Array(3).fill(undefined))
    expect([...confidential]).toEqual(secrets)
  })

  test('a variable that shows in a decrypted text is refused, as Flux would substitute it', async () => {
    const of = (text: string, spec: string) => {
      const files = { 'clusters/staging/a.yaml': text.replace('metadata:', 'metadata:\n    namespace: apps') }
      const evaluated = nodeOfFleet(fleet(files, `${WITH} ${spec}`))
      return openObjects(under.client, { ...evaluated, namespace: 'apps', user } as unknown as ApprovedNode)
    }
    const values = 'postBuild: {substitute: {A: b}},'
    for (const kind of ['secret', 'configmap']) {
      const text = fixture(`variable-${kind}.yaml`)
      await expect(of(text, values)).rejects.toThrow(
        'key has a variable, and variables in decrypted values are not supported',
      )
      await expect(of(text, '')).resolves.toBeDefined()
      const off = text.replace(
        'metadata:',
        'metadata:\n    annotations: {kustomize.toolkit.fluxcd.io/substitute: disabled}',
      )
      await expect(of(off, values)).resolves.toBeDefined()
    }
  })

  test('a Secret that is missing, holds no key, or is not the account’s fails this node, and says so', async () => {
    await expect(openObjects(under.client, named('missing'))).rejects.toThrow(
      'Secret apps/missing, which spec.decryption names: does not exist',
    )
    const large = { 'x.agekey': 'A'.repeat(64 * 1024) }
    await create(under.server, '/api/v1/namespaces/apps/secrets', { metadata: { name: 'large' }, data: large })
    await expect(openObjects(under.client, named('large'))).rejects.toThrow('holds no key')
    const larger = { 'x.agekey': 'A'.repeat(64 * 1024 + 4) }
    await create(under.server, '/api/v1/namespaces/apps/secrets', { metadata: { name: 'larger' }, data: larger })
    await expect(openObjects(under.client, named('larger'))).rejects.toThrow('x.agekey is larger than 65536 bytes')
    await expect(openObjects(under.client, named('no-keys'))).rejects.toThrow('holds no key')
    await expect(openObjects(under.client, named('../configmaps'))).rejects.toMatchObject({ code: 'cluster-invalid' })
    const other = await createTenant(under.server, 'other', 'ops-team')
    await expect(openObjects(under.client, node({ user: other }))).rejects.toMatchObject({ code: 'cluster-forbidden' })
  })
})
