import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readKmsKeys, Settings } from '../../../src/cluster/cluster-settings.ts'
import { openKms } from '../../../src/cluster/open-kms.ts'
import { decryptFile } from '../../../src/flux/sops/decrypt-file.ts'
import { sealValue } from '../../../src/flux/sops/seal-document.ts'
import { type KmsKey, serviceKeys } from '../../../src/kube/sops.ts'
import { parseDocuments } from '../../../src/kube/yaml/parse-documents.ts'
import { openDocument } from '../../flux/sops/open-document.ts'
import { type Asked, claimsOf, isSignedFor, type Said, SERVICE_ACCOUNT, startServices } from './fake-services.ts'

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5)
const PLAIN = randomBytes(32)
const ENC = Buffer.from('the encrypted data key').toString('base64')
const ARN = 'arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab'
const GCP = 'projects/acme/locations/europe-west1/keyRings/sops/cryptoKeys/apps'
const VAULT = 'https://vault.example.com:8200/v1/team/sops/keys/apps'
const AZURE = 'https://acme.vault.azure.net/keys/apps'
const VERSION = '0123456789abcdef0123456789abcdef'
const TENANT = '11111111-2222-3333-4444-555555555555'

let folder = ''
let service: Awaited<ReturnType<typeof startServices>>
let answer: (asked: Asked) => Said
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bailiwick-kms-'))
  file('aws', '[default]\naws_access_key_id = AKID\naws_secret_access_key = SECRET1\n')
  file('gcp', SERVICE_ACCOUNT)
  file('vault', 'hvs.TOKEN\n')
  file('azure', 'AZURESECRET')
  answer = asked => honest(asked)
  service = await startServices(asked => answer(asked))
})
afterEach(async () => {
  await service.stop()
  rmSync(folder, { recursive: true })
})

const file = (name: string, text: string) => writeFileSync(join(folder, name), text)
const listed = (...entries: object[]): KmsKey[] =>
  readKmsKeys(
    new Settings(
      { kmsKeys: entries.map(entry => ({ namespaces: ['apps'], ...entry })) },
      join(folder, 'clusters.yaml'),
      'staging',
    ),
  )
const ENTRIES = {
  aws: { provider: 'aws', key: ARN, credentialsFile: 'aws' },
  gcp: { provider: 'gcp', key: GCP, credentialsFile: 'gcp' },
  vault: { provider: 'vault', key: VAULT, tokenFile: 'vault' },
  azure: { provider: 'azure', key: AZURE, tenantId: TENANT, clientId: TENANT, clientSecretFile: 'azure' },
}
type Name = keyof typeof ENTRIES
const NAMES = Object.keys(ENTRIES) as Name[]
/** In the form that SOPS writes (getsops/sops, stores). */
const BLOCKS: Record<Name, object> = {
  aws: { kms: [{ arn: ARN, context: { team: 'a' }, created_at: 'x', enc: ENC, aws_profile: 'laptop' }] },
  gcp: { gcp_kms: [{ resource_id: GCP, created_at: 'x', enc: ENC }] },
  vault: {
    hc_vault: [
      {
        vault_address: 'https://vault.example.com:8200',
        engine_path: 'team/sops',
        key_name: 'apps',
        enc: 'vault:v1:abc',
      },
    ],
  },
  azure: { azure_kv: [{ vault_url: 'https://acme.vault.azure.net', name: 'apps', version: VERSION, enc: 'AbC_-' }] },
}
const blockOf = (block: object) => parseDocuments({ repository: '', path: 'a' }, Buffer.from(JSON.stringify(block)))[0]!
const sealedBy = (block: object) => ({
  kind: 'Secret',
  data: { a: sealValue('value', PLAIN, 'data:a:', randomBytes) },
  sops: { ...block, mac: 'x', encrypted_regex: '^data$' },
})
const asked = (block: object) => serviceKeys(blockOf(block))[0]!
const kms = (...keys: KmsKey[]) => openKms(keys, { reach: service.reach, now: () => NOW })
const open = (name: Name, block = BLOCKS[name], namespace = 'apps') =>
  kms(...listed(ENTRIES[name])).open(namespace, asked(block))

const json = (value: unknown): Said => ({ body: JSON.stringify(value) })

/** What each service answers to exactly the right request, by its API reference; anything else is refused. */
function honest(one: Asked): Said {
  const { method, host, path, headers, body } = one
  const is = (...parts: unknown[]) => parts.every(Boolean)
  switch (`${method} ${host}${path}`) {
    case 'POST kms.eu-west-1.amazonaws.com/': {
      const expected = JSON.stringify({ CiphertextBlob: ENC, KeyId: ARN, EncryptionContext: { team: 'a' } })
      const ok = is(
        isSignedFor(one, 'SECRET1', ['eu-west-1', 'kms']),
        headers['x-amz-target'] === 'TrentService.Decrypt',
        headers['content-type'] === 'application/x-amz-json-1.1',
        headers['x-amz-date'] === '20260102T030405Z',
        body === expected,
      )
      if (ok) return json({ KeyId: ARN, Plaintext: PLAIN.toString('base64'), EncryptionAlgorithm: 'SYMMETRIC_DEFAULT' })
      return { status: 400, body: '{"__type":"InvalidSignatureException","message":"arn:aws:iam::1:user/secret"}' }
    }
    case 'POST oauth2.googleapis.com/token': {
      const form = new URLSearchParams(body)
      expect(claimsOf(form.get('assertion') ?? '')).toEqual({
        alg: 'RS256',
        typ: 'JWT',
        kid: 'k1',
        iss: 'worker@acme.iam.gserviceaccount.com',
        scope: 'https://www.googleapis.com/auth/cloudkms',
        aud: 'https://oauth2.googleapis.com/token',
        iat: NOW / 1000,
        exp: NOW / 1000 + 3600,
      })
      return json({ access_token: 'GTOKEN', expires_in: 3600, token_type: 'Bearer' })
    }
    case `POST cloudkms.googleapis.com/v1/${GCP}:decrypt`:
      if (is(headers.authorization === 'Bearer GTOKEN', body === JSON.stringify({ ciphertext: ENC })))
        return json({ plaintext: PLAIN.toString('base64'), plaintextCrc32c: '1' })
      return { status: 403, body: '{"error":{"status":"PERMISSION_DENIED","message":"secret"}}' }
    case 'POST vault.example.com:8200/v1/team/sops/decrypt/apps':
      if (is(headers['x-vault-token'] === 'hvs.TOKEN', body === '{"ciphertext":"vault:v1:abc"}'))
        return json({ data: { plaintext: PLAIN.toString('base64') } })
      return { status: 403, body: '{"errors":["secret"]}' }
    case `POST login.microsoftonline.com/${TENANT}/oauth2/v2.0/token`:
      expect(Object.fromEntries(new URLSearchParams(body))).toEqual({
        grant_type: 'client_credentials',
        client_id: TENANT,
        scope: 'https://vault.azure.net/.default',
        client_secret: 'AZURESECRET',
      })
      return json({ access_token: 'ATOKEN', expires_in: 3599, token_type: 'Bearer' })
    case `POST acme.vault.azure.net/keys/apps/${VERSION}/decrypt?api-version=7.4`:
      if (
        is(headers.authorization === 'Bearer ATOKEN', body === JSON.stringify({ alg: 'RSA-OAEP-256', value: 'AbC_-' }))
      )
        return json({ kid: `${AZURE}/${VERSION}`, value: PLAIN.toString('base64url') })
      return { status: 403, body: '{"error":{"code":"Forbidden","message":"secret"}}' }
    default:
      return { status: 404, body: `{"secret":"${host}${path}"}` }
  }
}

describe.each(NAMES)('a key of %s', name => {
  test('opens a data key for the listed namespace, and an object with it', async () => {
    expect(PLAIN.equals((await open(name))!)).toBe(true)
    const service = kms(...listed(ENTRIES[name]))
    const opened = await openDocument(sealedBy(BLOCKS[name]), {
      age: [],
      open: async key => {
        const plain = await service.open('apps', key)
        return plain && new Uint8Array(plain)
      },
    })
    expect(opened).toEqual({ kind: 'Secret', data: { a: 'value' } })
  })

  test('is not asked for another namespace', async () => {
    expect(await open(name, BLOCKS[name], 'other')).toBeUndefined()
    expect(service.asked).toEqual([])
  })

  test.each<[string, (asked: Asked) => Said, string]>([
    [
      'a redirect',
      () => ({ status: 307, headers: { location: 'https://evil.example.com/' } }),
      'a redirect, which is not followed',
    ],
    ['a huge answer', () => ({ body: 'a'.repeat(256 * 1024 + 1) }), 'with more than 262144 bytes'],
    ['half an answer', () => ({ body: '{', cut: true }), 'answer'],
    ['500', () => ({ status: 500, body: 'secret' }), 'answers with status 500; it is asked again'],
    ['429', () => ({ status: 429, body: 'secret' }), 'answers with status 429; it is asked again'],
    ['no JSON', () => ({ body: 'secret' }), ''],
    ['a list', () => ({ body: '[]' }), ''],
  ])('%s fails this node, without the words of the answer', async (_, said, words) => {
    answer = said
    const error = await open(name).catch((error: unknown) => error)
    expect(error).toMatchObject({ code: 'cluster-invalid' })
    expect((error as Error).cause).toBeUndefined()
    const text = `${(error as Error).message} ${(error as { fix?: string }).fix}`
    expect(text).toContain(words)
    expect(text).not.toMatch(/secret1|hvs|AZURESECRET|evil|GTOKEN|ATOKEN|BEGIN|kms-[a-zA-Z0-9]{6}\//)
    // what fails now is asked anew the next time
    answer = honest
    expect(await open(name)).toHaveLength(32)
  })

  test('a plaintext that is no data key is refused', async () => {
    const wrong = (length: number) => (one: Asked) => {
      const said = honest(one)
      const other = randomBytes(length)
      const body = (said.body ?? '')
        .replace(PLAIN.toString('base64'), other.toString('base64'))
        .replace(PLAIN.toString('base64url'), other.toString('base64url'))
      return { ...said, body }
    }
    for (const length of [0, 16, 31, 33, 64]) {
      answer = wrong(length)
      await expect(open(name)).rejects.toThrow(`what it opens has ${length} bytes, and a data key has 32`)
    }
  })

  test('a refusal names its code only', async () => {
    answer = one => {
      const said = honest(one)
      return (said.body ?? '').includes('token')
        ? said
        : { status: 403, body: '{"message":"secret","errors":["secret"]}' }
    }
    const error = (await open(name).catch((error: unknown) => error)) as Error
    expect(error.message).toMatch(/is refused with status 403$/)
  })

  test('credentials that are not there fail this node, without their path', async () => {
    rmSync(join(folder, name))
    const error = (await open(name).catch((error: unknown) => error)) as Error
    expect(error.message).toContain('the credentials of the worker for it cannot be used')
    expect(error.message).not.toContain(folder)
    expect(service.asked).toEqual([])
  })
})

test('what a tenant writes in the file chooses no address, key or role', async () => {
  const all = kms(...listed(...Object.values(ENTRIES)))
  const other = (name: Name, change: object) => {
    const [[list, [item]]] = Object.entries(BLOCKS[name]) as [[string, [object]]]
    return { [list]: [{ ...item, ...change }] }
  }
  const blocks = [
    other('aws', { arn: `${ARN}0` }),
    other('aws', { arn: ARN.replace('eu-west-1', 'evil.example.com/') }),
    other('aws', { arn: ARN.replace('eu-west-1', 'us-east-1') }),
    other('aws', { arn: ` ${ARN}` }),
    other('aws', { arn: 'alias/apps' }),
    other('aws', { role: 'arn:aws:iam::111122223333:role/admin' }),
    other('aws', { arn: `${ARN}+arn:aws:iam::111122223333:role/admin` }),
    other('gcp', { resource_id: `${GCP}/cryptoKeyVersions/1` }),
    other('gcp', { resource_id: GCP.replace('apps', '../cryptoKeys/apps') }),
    other('vault', { vault_address: 'https://evil.example.com' }),
    other('vault', { vault_address: 'http://vault.example.com:8200' }),
    other('vault', { vault_address: 'https://a@vault.example.com:8200' }),
    other('vault', { engine_path: 'team/sops/../sops' }),
    other('vault', { key_name: 'apps?' }),
    other('azure', { vault_url: 'https://acme.vault.azure.net.evil.example.com' }),
    other('azure', { vault_url: 'https://other.vault.azure.net' }),
    other('azure', { version: '..' }),
    other('azure', { version: '' }),
    other('azure', { version: `${VERSION}/../../other` }),
    other('azure', { name: `apps/${VERSION}`, version: '' }),
  ]
  for (const block of blocks)
    for (const key of serviceKeys(blockOf(block))) expect([key, await all.open('apps', key)]).toEqual([key, undefined])
  expect(service.asked).toEqual([])
})

test('a context that is not of texts, and a recipient without a data key, are nobody’s', () => {
  const aws = (change: object) => serviceKeys(blockOf({ kms: [{ arn: ARN, enc: ENC, ...change }] }))
  expect(aws({ context: { team: 1 } })).toEqual([])
  expect(aws({ context: ['team'] })).toEqual([])
  expect(aws({ enc: '' })).toEqual([])
  expect(aws({ role: ['a'] })[0]?.key).toBe(`${ARN}+`)
  for (const same of [{ role: '' }, { role: null }, { context: null }, { context: {} }])
    expect(aws(same)).toEqual([{ service: 'aws', key: ARN, enc: ENC }])
})

test('AWS answers about another key: nothing is opened', async () => {
  answer = one => ({ body: honest(one).body?.replace(ARN, `${ARN}0`) ?? '' })
  await expect(open('aws')).rejects.toThrow('the answer is about another key')
})

test('a version that the operator lists is the only one', async () => {
  const only = (version: string) =>
    kms(...listed({ ...ENTRIES.azure, key: `${AZURE}/${version}` })).open('apps', asked(BLOCKS.azure))
  expect(await only(VERSION)).toHaveLength(32)
  expect(await only(VERSION.replace('0', '1'))).toBeUndefined()
})

test.each([`${AZURE}/${VERSION.replace('0', '1')}`, `${AZURE.replace('apps', 'other')}/${VERSION}`, AZURE, ''])(
  'an answer of Azure about another key is no answer: %s',
  async kid => {
    const decrypted = (said: object) => (one: Asked) =>
      one.path.includes('/decrypt') ? json({ ...said, value: PLAIN.toString('base64url') }) : honest(one)
    answer = decrypted({ kid })
    await expect(open('azure')).rejects.toThrow('the answer is about another key')
    answer = decrypted({ kid: `${AZURE}/${VERSION}` })
    expect(await open('azure')).toHaveLength(32)
  },
)

test.each(['before', 'within'] as const)('a service that hangs %s its answer is given up', async hang => {
  answer = one => (one.host.startsWith('kms.') ? { ...honest(one), hang } : honest(one))
  const keys = openKms(listed(ENTRIES.aws, ENTRIES.vault), { reach: service.reach, now: () => NOW, timeoutMs: 200 })
  await expect(keys.open('apps', asked(BLOCKS.aws))).rejects.toThrow(
    hang === 'before' ? 'does not answer' : 'breaks off',
  )
  // and holds up no other
  expect(await keys.open('apps', asked(BLOCKS.vault))).toHaveLength(32)
})

test('credentials that rotate are read again, also while a token of the old ones counts', async () => {
  const keys = kms(...listed(ENTRIES.aws, ENTRIES.azure))
  await keys.open('apps', asked(BLOCKS.azure))
  await keys.open('apps', asked(BLOCKS.azure))
  const tokens = () => service.asked.filter(({ host }) => host.startsWith('login.'))
  expect(tokens()).toHaveLength(1)
  file('azure', 'NEW')
  answer = one => (one.host.startsWith('login.') ? json({ access_token: 'ATOKEN', expires_in: 9 }) : honest(one))
  await keys.open('apps', asked(BLOCKS.azure))
  expect(new URLSearchParams(tokens()[1]!.body).get('client_secret')).toBe('NEW')
  // it ends at once, so that each use asks for another
  await keys.open('apps', asked(BLOCKS.azure))
  expect(tokens()).toHaveLength(3)
  file('aws', 'aws_access_key_id: B\naws_secret_access_key: SECRET2\naws_session_token: S')
  await expect(keys.open('apps', asked(BLOCKS.aws))).rejects.toThrow('refused with InvalidSignatureException')
  expect(isSignedFor(service.asked.at(-1)!, 'SECRET2', ['eu-west-1', 'kms'])).toBe(true)
  expect(service.asked.at(-1)!.headers['x-amz-security-token']).toBe('S')
})

test.each(['aws_access_key_id = A', '[profile other]\naws_access_key_id = A\naws_secret_access_key = B', 'a: {}'])(
  'a credentials file with %j is not used',
  async text => {
    file('aws', text)
    await expect(open('aws')).rejects.toThrow('cannot be used')
  },
)

test('a web identity becomes a session of the role that the operator names', async () => {
  const role = 'arn:aws:iam::111122223333:role/worker'
  file('token', 'JWT')
  answer = one => {
    if (one.host !== 'sts.eu-west-1.amazonaws.com') return honest(one)
    expect(Object.fromEntries(new URLSearchParams(one.body))).toEqual({
      Action: 'AssumeRoleWithWebIdentity',
      Version: '2011-06-15',
      RoleArn: role,
      RoleSessionName: 'bailiwick',
      WebIdentityToken: 'JWT',
    })
    const until = new Date(NOW + 3_600_000).toISOString()
    return {
      body: `<A><B><Credentials><SessionToken>S</SessionToken><SecretAccessKey>SECRET1</SecretAccessKey><Expiration>${until}</Expiration><AccessKeyId>AKID</AccessKeyId></Credentials></B></A>`,
    }
  }
  const entry = { provider: 'aws', key: ARN, role, tokenFile: 'token' }
  const keys = kms(...listed(entry))
  expect(await keys.open('apps', asked(BLOCKS.aws))).toHaveLength(32)
  expect(await keys.open('apps', asked(BLOCKS.aws))).toHaveLength(32)
  expect(service.asked.map(({ host }) => host.slice(0, 3))).toEqual(['sts', 'kms', 'kms'])
  answer = () => ({ status: 403, body: '<Error><Message>secret</Message></Error>' })
  await expect(kms(...listed(entry)).open('apps', asked(BLOCKS.aws))).rejects.toThrow(
    'AWS STS gives no credentials for the role, with status 403',
  )
})

test('the metadata server of Google is believed only where it says that it is one', async () => {
  const keys = () => kms(...listed({ provider: 'gcp', key: GCP, metadataServer: true }))
  const metadata = (headers: Record<string, string>) => (one: Asked) =>
    one.host === '169.254.169.254' && one.headers['metadata-flavor'] === 'Google' && one.method === 'GET'
      ? { headers, body: '{"access_token":"GTOKEN","expires_in":3600}' }
      : honest(one)
  answer = metadata({ 'metadata-flavor': 'Google' })
  expect(await keys().open('apps', asked(BLOCKS.gcp))).toHaveLength(32)
  answer = metadata({})
  await expect(keys().open('apps', asked(BLOCKS.gcp))).rejects.toThrow('Google gives no token')
})

test('one key that refuses does not hide another that opens, and without one its words are told', async () => {
  const keys = kms(...listed(ENTRIES.aws, ENTRIES.vault))
  const identities = { age: [], open: async (key: Parameters<typeof keys.open>[1]) => keys.open('apps', key) }
  answer = one => (one.host.startsWith('kms.') ? { status: 503 } : honest(one))
  const both = { ...BLOCKS.aws, ...BLOCKS.vault }
  expect((await openDocument(sealedBy(both), identities)).data).toEqual({ a: 'value' })
  await expect(openDocument(sealedBy(BLOCKS.aws), identities)).rejects.toThrow('answers with status 503')
  // a key that is split among groups is nobody's
  const groups = { key_groups: [BLOCKS.vault, BLOCKS.vault] }
  await expect(openDocument(sealedBy(groups), identities)).rejects.toThrow('none of the keys opens it')
  expect((await openDocument(sealedBy({ key_groups: [BLOCKS.vault] }), identities)).data).toEqual({
    a: 'value',
  })
})

test('a dotenv file names its keys in lines', async () => {
  const keys = kms(...listed(ENTRIES.aws))
  const text = [
    `A=${sealValue('value', PLAIN, 'A:', randomBytes)}`,
    'sops_kms__list_0__map_aws_profile=',
    `sops_kms__list_0__map_arn=${ARN}`,
    'sops_kms__list_0__map_context__map_team=a',
    `sops_kms__list_0__map_enc=${ENC}`,
    'sops_mac=unread',
    'sops_version=3.9.0',
  ].join('\n')
  const identities = { age: [], open: async (key: Parameters<typeof keys.open>[1]) => keys.open('apps', key) }
  expect(Buffer.from(await decryptFile(text, 'dotenv', identities)).toString()).toBe('A=value\n')
})
