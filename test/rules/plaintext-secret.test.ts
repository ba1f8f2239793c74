import { expect, test } from 'vitest'
import { evaluationOf, said } from '../fleet/fleet-of.ts'
import { fleetFiles, miniFleet, sealedFleetFiles, withResource } from '../fleet/mini-fleet.ts'

const iv = Buffer.alloc(32, 1).toString('base64')
const tag = Buffer.alloc(16, 2).toString('base64')
const cipher = (type = 'str') => `ENC[AES256_GCM,data:c2VjcmV0,iv:${iv},tag:${tag},type:${type}]`
const sops = `sops:\n  lastmodified: "2025-01-01T00:00:00Z"\n  mac: ${cipher()}\n  version: 3.9.0\n  encrypted_regex: ^(data|stringData)$\n`
const secret = (body: string) => `apiVersion: v1\nkind: Secret\nmetadata:\n  name: x\n  namespace: apps\n${body}`
const evaluated = (body: string) =>
  said(evaluationOf(miniFleet({ fleet: sealedFleetFiles, dev: withResource(secret(body)) })))
const base64 = (text: string) => Buffer.from(text).toString('base64')

test('names the field as it is written, also where Flux moves it', () => {
  const [finding] = evaluationOf(miniFleet({ dev: withResource(secret('stringData:\n  password: hunter2\n')) })).verdict
    .violations
  expect(finding?.message).toContain('at "stringData" "password"')
  const [other] = evaluationOf(miniFleet({ dev: withResource(secret(`data:\n  password: ${base64('hunter2')}\n`)) }))
    .verdict.violations
  expect(other?.message).toContain('at "data" "password"')
})

const whole = `password: ${cipher()}\n${sops}`

test.each([
  ['every value encrypted', `stringData:\n  a: ${cipher()}\n  b: ${cipher('int')}\n${sops}`],
  ['no data', 'type: Opaque\n'],
  ['empty values', 'data: {}\nstringData:\n  a: ""\n'],
  ['a whole encrypted YAML file', `data:\n  a.yaml: ${base64(whole)}\n`],
  [
    'a whole encrypted JSON file',
    `data:\n  a: ${base64(JSON.stringify({ data: cipher(), sops: { mac: cipher() } }))}\n`,
  ],
  [
    'a whole encrypted dotenv file',
    `data:\n  .env: ${base64(`A=${cipher()}\nsops_age__list_0__map_enc=x\nsops_mac_only_encrypted=true\nsops_version=3.9.0\nsops_mac=${cipher()}\n`)}\n`,
  ],
])('passes: %s', (_what, body) => {
  expect(evaluated(body)).toEqual([])
})

test.each([
  ['plain text', 'stringData:\n  password: hunter2\n', 7],
  ['base64 of plain text', `data:\n  password: ${base64('hunter2')}\n`, 7],
  ['one of two', `stringData:\n  a: ${cipher()}\n  password: hunter2\n${sops}`, 8],
  ['ciphertext without a sops block', `stringData:\n  a: ${cipher()}\n`, 7],
  ['an empty sops block', `stringData:\n  a: ${cipher()}\nsops: {}\n`, 7],
  [
    'a sops block with a made-up mac',
    `stringData:\n  a: ${cipher()}\nsops:\n  mac: ENC[x]\n  encrypted_regex: ^stringData$\n`,
    7,
  ],
  ['a made-up marker', `stringData:\n  a: ENC[not really]\n${sops}`, 7],
  ['a marker with more behind it', `stringData:\n  a: ${cipher()} hunter2\n${sops}`, 7],
  [
    'a marker with a short nonce',
    `stringData:\n  a: ENC[AES256_GCM,data:aA==,iv:aA==,tag:${tag},type:str]\n${sops}`,
    7,
  ],
  ['a number', `stringData:\n  pin: 1234\n${sops}`, 7],
  [
    'a file of which one value is plain',
    `data:\n  a: ${base64(`password: hunter2\n${whole.replace('password', 'other')}`)}\n`,
    7,
  ],
  ['a file whose comment says sops', `data:\n  a: ${base64('# sops\npassword: hunter2\n')}\n`, 7],
  ['a value in the clear inside a sops block', `data:\n  a: ${base64(`${whole}  password: hunter2\n`)}\n`, 7],
  [
    'a value in the clear among what sops writes into a dotenv file',
    `data:\n  .env: ${base64(`sops_password=hunter2\nsops_mac=${cipher()}\n`)}\n`,
    7,
  ],
  ['a dotenv file of which one value is plain', `data:\n  .env: ${base64(`A=hunter2\nsops_mac=${cipher()}\n`)}\n`, 7],
])('finds: %s', (_what, body, line) => {
  expect(evaluated(body)).toEqual([`plaintext-secret deploy/extra.yaml:${line}`])
})

test('the platform’s secrets too; no value and no hash of it is said', () => {
  const files = {
    'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml, secret.yaml]\n',
    'tenants/secret.yaml': secret('stringData:\n  password: hunter2\n'),
  }
  const { verdict } = evaluationOf(miniFleet({ fleet: files }))
  expect(verdict.violations).toHaveLength(1)
  expect(verdict.violations[0]).toMatchObject({ tenant: '', node: 'staging/flux-system/tenants', origin: { line: 7 } })
  expect(JSON.stringify(verdict)).not.toContain('hunter2')
  const other = evaluationOf(
    miniFleet({
      fleet: { ...files, 'tenants/secret.yaml': files['tenants/secret.yaml'].replace('hunter2', 'hunter3') },
    }),
  )
  expect(other.verdict.violations[0]!.fingerprint).toBe(verdict.violations[0]!.fingerprint)
})

test('what is no Secret is left alone', () => {
  const config =
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: apps}\ndata: {password_policy: long}\n'
  expect(said(evaluationOf(miniFleet({ dev: withResource(config) })))).toEqual([])
  expect(Object.keys(fleetFiles)).not.toHaveLength(0)
})

test('a plain value that is changed is new, and nothing that is published follows from it', () => {
  const states = (before: string, after: string) =>
    evaluationOf(miniFleet({ dev: withResource(secret(after)) }), {
      base: miniFleet({ dev: withResource(secret(before)) }),
    })
      .verdict.violations.filter(({ rule }) => rule === 'plaintext-secret')
      .map(({ state, fingerprint }) => `${state} ${fingerprint}`)
  const body = (password: string, more = '') => `stringData:\n  password: ${password}\n${more}`
  const [standing] = states(body('hunter2'), body('hunter2'))
  expect(standing).toMatch(/^standing /)
  expect(states(body('hunter2'), body('hunter2', '  token: k3RtQ9zWx1\n'))).toContain(standing)
  expect(states(body('hunter2'), body('"hunter2"'))).toEqual([standing])
  const changed = states(body('hunter2'), body('hunter3'))
  expect(changed.filter(one => one.startsWith('new '))).toHaveLength(1)
  expect(states(body('hunter4'), body('hunter5'))).toEqual(changed)
  expect(states(body('hunter3'), body('hunter3'))).toEqual([standing])
})
