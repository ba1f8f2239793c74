import type { KmsKey } from '../kube/kms-key.ts'
import type { ServiceKey } from '../kube/sops-services.ts'
import { ask, type KmsWorld, textIn } from './ask.ts'
import type { HeldTokens } from './held-tokens.ts'
import { kmsFailure } from './kms-failure.ts'
import { readCredential, unusable } from './read-credential.ts'
import { type AwsCredentials, signAws } from './sign-aws.ts'

/**
 * Decrypt of AWS KMS (API reference, TrentService.Decrypt), with the encryption context of the file. The key is named, so that
 * AWS refuses what another key of the account encrypted.
 */
export async function openByAws(
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
