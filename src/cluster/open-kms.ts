import { createHmac, createSign, hash } from 'node:crypto'
import { isListedFor, type KmsKey, type ServiceKey } from '../kube/sops.ts'
import {
  ask,
  HeldTokens,
  type KmsAnswer,
  type KmsWorld,
  kmsFailure,
  METADATA,
  readCredential,
  textIn,
  unusable,
} from './ask-kms.ts'

/** The services whose keys the operator lists for a cluster. */
export interface Kms {
  /** Whether Kustomizations of the namespace may use any. */
  isListed(namespace: string): boolean
  /**
   * The data key, as the service opens it for a Kustomization in `namespace`; undefined, without a call, for a key that
   * is not listed for it. Throws `cluster-invalid` without any secret.
   */
  open(namespace: string, key: ServiceKey): Promise<Uint8Array | undefined>
}

/** Nothing but these keys is used, each at the address that follows from how it is listed. */
export function openKms(keys: readonly KmsKey[], world: KmsWorld = { now: Date.now }): Kms {
  const tokens = new HeldTokens<string>()
  const sessions = new HeldTokens<AwsCredentials>()
  const ask = async (listed: KmsKey, key: ServiceKey): Promise<Uint8Array> => {
    switch (listed.service) {
      case 'aws':
        return await openByAws(listed, key, sessions, world)
      case 'gcp':
        return await openByGcp(listed, key, tokens, world)
      case 'vault':
        return await openByVault(listed, key, world)
      case 'azure':
        return await openByAzure(listed, key, tokens, world)
    }
  }
  return {
    isListed: namespace => keys.some(({ namespaces }) => namespaces.includes(namespace)),
    async open(namespace, key) {
      const listed = keys.find(one => isListedFor(one, key, namespace))
      if (!listed) return undefined
      const plain = await ask(listed, key)
      if (plain.length === DATA_KEY_BYTES) return plain
      throw kmsFailure(listed, `what it opens has ${plain.length} bytes, and a data key has ${DATA_KEY_BYTES}`)
    },
  }
}

const DATA_KEY_BYTES = 32

/**
 * Decrypt of AWS KMS (API reference, TrentService.Decrypt), with the encryption context of the file. The key is named, so that
 * AWS refuses what another key of the account encrypted.
 */
async function openByAws(
  listed: KmsKey,
  { enc, context }: ServiceKey,
  tokens: HeldTokens<AwsCredentials>,
  world: KmsWorld,
): Promise<Uint8Array> {
  const [, partition = '', , region = ''] = listed.key.split(':')
  const domain = `${region}.amazonaws.com${partition === 'aws-cn' ? '.cn' : ''}`
  const credentials = await credentialsFor(listed, `https://sts.${domain}/`, tokens, world)
  const host = `kms.${domain}`
  const body = JSON.stringify({
    CiphertextBlob: enc,
    KeyId: listed.key,
    ...(context ? { EncryptionContext: context } : {}),
  })
  const headers = signAws(
    {
      method: 'POST',
      host,
      headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': 'TrentService.Decrypt' },
      body,
    },
    credentials,
    { region, service: 'kms', now: world.now() },
  )
  const { status, text } = await ask(listed, { url: `https://${host}/`, headers, body }, world)
  if (status !== 200) {
    tokens.forget(listed.key)
    // `com.amazonaws.kms#AccessDeniedException` in some answers
    const reason = /^(?:[\w.]{1,80}#)?(\w{1,80})$/.exec(textIn(text, '__type'))?.[1]
    throw kmsFailure(listed, `it is refused with ${reason ?? `status ${status}`}`, ALLOW)
  }
  const used = textIn(text, 'KeyId')
  if (listed.key.includes(':key/') && used !== listed.key) throw kmsFailure(listed, 'the answer is about another key')
  return Buffer.from(textIn(text, 'Plaintext'), 'base64')
}

const ALLOW = 'Allow kms:Decrypt on this key to the credentials of the worker, and encrypt the file for this key.'

async function credentialsFor(
  listed: KmsKey,
  sts: string,
  tokens: HeldTokens<AwsCredentials>,
  world: KmsWorld,
): Promise<AwsCredentials> {
  const { credentials } = listed
  if (credentials.type === 'file') return fromFile(listed, await readCredential(listed, credentials.file))
  if (credentials.type !== 'web-identity') throw unusable(listed)
  const { role, tokenFile } = credentials
  const token = await readCredential(listed, tokenFile)
  return await tokens.get(listed.key, token, world.now(), async () => {
    const body = new URLSearchParams({
      Action: 'AssumeRoleWithWebIdentity',
      Version: '2011-06-15',
      RoleArn: role,
      RoleSessionName: 'bailiwick',
      WebIdentityToken: token,
    }).toString()
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const { status, text } = await ask(listed, { url: sts, headers, body }, world)
    const value = (name: string) => new RegExp(`<${name}>([^<>\\s]{1,8192})</${name}>`).exec(text)?.[1] ?? ''
    const [accessKeyId, secretAccessKey, sessionToken] = ['AccessKeyId', 'SecretAccessKey', 'SessionToken'].map(value)
    const until = Date.parse(value('Expiration'))
    if (status !== 200 || !accessKeyId || !secretAccessKey || !sessionToken || Number.isNaN(until))
      throw kmsFailure(listed, `AWS STS gives no credentials for the role, with status ${status}`, TRUST)
    return { token: { accessKeyId, secretAccessKey, sessionToken }, until }
  })
}

const TRUST = 'Let the role trust the identity of `tokenFile`.'

/** The shared credentials file of AWS with one profile, or the same as YAML. */
function fromFile(listed: KmsKey, text: string): AwsCredentials {
  const found = new Map<string, string>()
  for (const line of text.split('\n').map(one => one.trim())) {
    if (line === '' || line.startsWith('#') || line === '[default]') continue
    const [, name, value] =
      /^(aws_access_key_id|aws_secret_access_key|aws_session_token) ?[=:] ?([\x21-\x7e]+)$/.exec(line) ?? []
    if (name === undefined || value === undefined || found.has(name)) throw unusable(listed)
    found.set(name, value)
  }
  const accessKeyId = found.get('aws_access_key_id')
  const secretAccessKey = found.get('aws_secret_access_key')
  const sessionToken = found.get('aws_session_token')
  if (accessKeyId === undefined || secretAccessKey === undefined) throw unusable(listed)
  return { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) }
}

interface AwsCredentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

interface AwsRequest {
  readonly method: string
  readonly host: string
  /** In lower case, without `host` and `x-amz-date`. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * The headers of a request to the root of a service of AWS, signed with Signature Version 4 (AWS documentation, "Create a
 * signed AWS API request"; held to the published test suite).
 */
export function signAws(
  { method, host, headers, body }: AwsRequest,
  { accessKeyId, secretAccessKey, sessionToken }: AwsCredentials,
  place: { readonly region: string; readonly service: string; readonly now: number },
): Record<string, string> {
  const time = new Date(place.now).toISOString().replace(/[-:]|\.\d{3}/g, '')
  const all: Record<string, string> = {
    ...headers,
    host,
    'x-amz-date': time,
    ...(sessionToken === undefined ? {} : { 'x-amz-security-token': sessionToken }),
  }
  const names = Object.keys(all).sort()
  const lines = names.map(name => `${name}:${all[name]!.trim().replace(/ +/g, ' ')}\n`).join('')
  const request = [method, '/', '', lines, names.join(';'), hash('sha256', body)].join('\n')
  const scope = [time.slice(0, 8), place.region, place.service, 'aws4_request']
  const text = ['AWS4-HMAC-SHA256', time, scope.join('/'), hash('sha256', request)].join('\n')
  const key = scope.reduce<Buffer>((last, part) => hmac(last, part), Buffer.from(`AWS4${secretAccessKey}`))
  const authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope.join('/')}, SignedHeaders=${names.join(';')}, Signature=${hmac(key, text).toString('hex')}`
  const { host: _host, ...sent } = all
  return { ...sent, authorization }
}

const hmac = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

/** Where each cloud of Azure gives tokens, by the domain of its vaults. */
const AUTHORITIES: ReadonlyMap<string, string> = new Map([
  ['vault.azure.net', 'login.microsoftonline.com'],
  ['vault.azure.cn', 'login.partner.microsoftonline.cn'],
  ['vault.usgovcloudapi.net', 'login.microsoftonline.us'],
])

/** Decrypt of Azure Key Vault (REST reference, Keys, 7.4), with the algorithm of SOPS. */
async function openByAzure(
  listed: KmsKey,
  { key, enc }: ServiceKey,
  tokens: HeldTokens<string>,
  world: KmsWorld,
): Promise<Uint8Array> {
  const domain = new URL(listed.key).hostname.split('.').slice(1).join('.')
  const token = await tokenFor(listed, domain, tokens, world)
  // only the version is the file's own, and only where the operator lists every version
  const version = /\/([0-9a-f]{32})$/.exec(key)?.[1]
  if (version === undefined) throw kmsFailure(listed, 'the file names no version of it', 'Encrypt the file again.')
  const address = listed.key.endsWith(`/${version}`) ? listed.key : `${listed.key}/${version}`
  const { status, text } = await ask(
    listed,
    {
      url: `${address}/decrypt?api-version=7.4`,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ alg: 'RSA-OAEP-256', value: enc }),
    },
    world,
  )
  if (status !== 200) {
    tokens.forget(listed.key)
    const reason = /^\w{1,60}$/.exec(textIn(text, 'error.code'))?.[0]
    const fix = 'Give the client of the worker the right to decrypt with this key.'
    throw kmsFailure(listed, `it is refused with ${reason ?? `status ${status}`}`, fix)
  }
  if (textIn(text, 'kid') !== address) throw kmsFailure(listed, 'the answer is about another key')
  return Buffer.from(textIn(text, 'value'), 'base64url')
}

async function tokenFor(listed: KmsKey, domain: string, tokens: HeldTokens<string>, world: KmsWorld): Promise<string> {
  const { credentials } = listed
  const authority = AUTHORITIES.get(domain)
  if (credentials.type !== 'azure' || authority === undefined) throw unusable(listed)
  const { tenantId, clientId, clientSecretFile, federatedTokenFile } = credentials
  const secret = await readCredential(listed, clientSecretFile ?? federatedTokenFile ?? '')
  const proof: Record<string, string> =
    clientSecretFile === undefined
      ? {
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
          client_assertion: secret,
        }
      : { client_secret: secret }
  return await tokens.get(listed.key, secret, world.now(), async () => {
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      scope: `https://${domain}/.default`,
      ...proof,
    }).toString()
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const url = `https://${authority}/${tenantId}/oauth2/v2.0/token`
    const { status, text } = await ask(listed, { url, headers, body }, world)
    const token = textIn(text, 'access_token')
    const seconds = Number(textIn(text, 'expires_in'))
    if (status !== 200 || !/^[\x21-\x7e]{1,16384}$/.test(token) || !(seconds > 0))
      throw kmsFailure(listed, `Azure gives no token for the credentials of the worker, with status ${status}`)
    return { token, until: world.now() + seconds * 1000 }
  })
}

const TOKENS = 'https://oauth2.googleapis.com/token'
const SCOPE = 'https://www.googleapis.com/auth/cloudkms'

/** Decrypt of Cloud KMS (REST reference, projects.locations.keyRings.cryptoKeys.decrypt). */
async function openByGcp(
  listed: KmsKey,
  { enc }: ServiceKey,
  tokens: HeldTokens<string>,
  world: KmsWorld,
): Promise<Uint8Array> {
  const token = await gcpTokenFor(listed, tokens, world)
  const { status, text } = await ask(
    listed,
    {
      url: `https://cloudkms.googleapis.com/v1/${listed.key}:decrypt`,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ciphertext: enc }),
    },
    world,
  )
  if (status === 200) return Buffer.from(textIn(text, 'plaintext'), 'base64')
  tokens.forget(listed.key)
  const reason = /^[A-Z_]{1,60}$/.exec(textIn(text, 'error.status'))?.[0]
  const fix = 'Give the account of the worker the role roles/cloudkms.cryptoKeyDecrypter on this key.'
  throw kmsFailure(listed, `it is refused with ${reason ?? `status ${status}`}`, fix)
}

async function gcpTokenFor(listed: KmsKey, tokens: HeldTokens<string>, world: KmsWorld): Promise<string> {
  const { credentials } = listed
  const now = world.now()
  if (credentials.type === 'metadata') {
    return await tokens.get(listed.key, '', now, async () => {
      const url = `${METADATA}/computeMetadata/v1/instance/service-accounts/default/token`
      const headers = { 'metadata-flavor': 'Google' }
      const answer = await ask(listed, { url, method: 'GET', headers }, world)
      if (answer.headers.get('metadata-flavor') !== 'Google') throw noToken(listed, answer)
      return tokenIn(listed, answer, now)
    })
  }
  if (credentials.type !== 'file') throw unusable(listed)
  const text = await readCredential(listed, credentials.file)
  return await tokens.get(listed.key, text, now, async () => {
    const body = new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: assertion(listed, text, now),
    }).toString()
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    return tokenIn(listed, await ask(listed, { url: TOKENS, headers, body }, world), now)
  })
}

/** A JWT by which a service account asks for a token (Google Identity, "Using OAuth 2.0 for Server to Server Applications"). */
function assertion(listed: KmsKey, text: string, now: number): string {
  const [email, pem, id] = ['client_email', 'private_key', 'private_key_id'].map(name => textIn(text, name))
  if (textIn(text, 'type') !== 'service_account' || !email || !pem) throw unusable(listed)
  const iat = Math.floor(now / 1000)
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const header = { alg: 'RS256', typ: 'JWT', ...(id === '' ? {} : { kid: id }) }
  const claims = { iss: email, scope: SCOPE, aud: TOKENS, iat, exp: iat + 3600 }
  const signed = `${part(header)}.${part(claims)}`
  try {
    return `${signed}.${createSign('RSA-SHA256').update(signed).sign(pem).toString('base64url')}`
  } catch {
    // words about the key stay here
    throw unusable(listed)
  }
}

function tokenIn(listed: KmsKey, answer: KmsAnswer, now: number) {
  const token = textIn(answer.text, 'access_token')
  const seconds = Number(textIn(answer.text, 'expires_in'))
  if (answer.status !== 200 || !/^[\x21-\x7e]{1,16384}$/.test(token) || !(seconds > 0)) throw noToken(listed, answer)
  return { token, until: now + seconds * 1000 }
}

const noToken = (listed: KmsKey, { status }: KmsAnswer) =>
  kmsFailure(listed, `Google gives no token for the credentials of the worker, with status ${status}`)

/** Decrypt of the transit engine of Vault (API, "Decrypt data"), at the address and with the key that are listed. */
async function openByVault(listed: KmsKey, { enc }: ServiceKey, world: KmsWorld): Promise<Uint8Array> {
  const { credentials, key } = listed
  if (credentials.type !== 'file') throw unusable(listed)
  const token = await readCredential(listed, credentials.file)
  if (!/^[\x21-\x7e]{1,8192}$/.test(token)) throw unusable(listed)
  const { status, text } = await ask(
    listed,
    {
      url: key.replace(/\/keys\/([^/]{1,100})$/, '/decrypt/$1'),
      headers: { 'x-vault-token': token, 'x-vault-request': 'true', 'content-type': 'application/json' },
      body: JSON.stringify({ ciphertext: enc }),
    },
    world,
  )
  if (status === 200) return Buffer.from(textIn(text, 'data.plaintext'), 'base64')
  const fix =
    'Allow `update` on the decrypt path of this key to the token of the worker, and encrypt the file for this key.'
  throw kmsFailure(listed, `it is refused with status ${status}`, fix)
}
