import type { KmsKey } from '../kube/kms-key.ts'
import type { ServiceKey } from '../kube/sops-services.ts'
import { ask, type KmsWorld, textIn } from './ask.ts'
import type { HeldTokens } from './held-tokens.ts'
import { kmsFailure } from './kms-failure.ts'
import { readCredential, unusable } from './read-credential.ts'

/** Where each cloud of Azure gives tokens, by the domain of its vaults. */
const AUTHORITIES: ReadonlyMap<string, string> = new Map([
  ['vault.azure.net', 'login.microsoftonline.com'],
  ['vault.azure.cn', 'login.partner.microsoftonline.cn'],
  ['vault.usgovcloudapi.net', 'login.microsoftonline.us'],
])

/** Decrypt of Azure Key Vault (REST reference, Keys, 7.4), with the algorithm of SOPS. */
export async function openByAzure(
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
