import { createSign } from 'node:crypto'
import type { KmsKey } from '../kube/kms-key.ts'
import type { ServiceKey } from '../kube/sops-services.ts'
import { ask, type KmsAnswer, type KmsWorld, METADATA, textIn } from './ask.ts'
import type { HeldTokens } from './held-tokens.ts'
import { kmsFailure } from './kms-failure.ts'
import { readCredential, unusable } from './read-credential.ts'

const TOKENS = 'https://oauth2.googleapis.com/token'
const SCOPE = 'https://www.googleapis.com/auth/cloudkms'

/** Decrypt of Cloud KMS (REST reference, projects.locations.keyRings.cryptoKeys.decrypt). */
export async function openByGcp(
  listed: KmsKey,
  { enc }: ServiceKey,
  tokens: HeldTokens<string>,
  world: KmsWorld,
): Promise<Uint8Array> {
  const token = await tokenFor(listed, tokens, world)
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

async function tokenFor(listed: KmsKey, tokens: HeldTokens<string>, world: KmsWorld): Promise<string> {
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
