import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { BailiwickError } from '../base/errors.ts'
import { type KmsKey, SERVICE_NAMES } from '../kube/sops.ts'

/** One request to a service. The address is derived from what the operator lists, never from a file of a tenant. */
interface KmsRequest {
  readonly url: string
  readonly method?: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** Where requests go, and when it is now: tests replace both. */
export interface KmsWorld {
  /** The address that is called instead. Absent: the address itself, which must be https. */
  readonly reach?: (url: URL) => URL
  readonly now: () => number
  /** How long one answer may take. Absent: 20 s. */
  readonly timeoutMs?: number
}

export interface KmsAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

const TIMEOUT_MS = 20_000
const MAX_ANSWER_BYTES = 256 * 1024
/** Google's metadata server has no TLS, and is reachable on the machine only. */
export const METADATA = 'http://169.254.169.254'

/**
 * Asks a service once: no redirect is followed and no more than a small answer is read. Throws `cluster-invalid` where there is
 * none, where the service is busy, or where it leads elsewhere.
 */
export async function ask(
  key: KmsKey,
  request: KmsRequest,
  { reach, timeoutMs = TIMEOUT_MS }: KmsWorld,
): Promise<KmsAnswer> {
  const { method = 'POST', headers, body } = request
  const url = new URL(request.url)
  if (url.protocol !== 'https:' && url.origin !== METADATA) throw kmsFailure(key, 'its address is not https')
  const host = url.host
  const signal = AbortSignal.timeout(timeoutMs)
  let response: Response
  try {
    response = await fetch(reach?.(url) ?? url, {
      method,
      headers: { ...headers, 'accept-encoding': 'identity', 'user-agent': 'bailiwick' },
      redirect: 'manual',
      signal,
      ...(body === undefined ? {} : { body }),
    })
  } catch {
    // the cause may quote a header
    throw kmsFailure(key, `${host} does not answer`)
  }
  const { status } = response
  if (status >= 300 && status < 400) {
    await response.body?.cancel()
    throw kmsFailure(key, `${host} answers with a redirect, which is not followed`)
  }
  const text = await readText(key, response, host)
  if (status === 429 || status >= 500) throw kmsFailure(key, `${host} answers with status ${status}; it is asked again`)
  return { status, headers: response.headers, text }
}

async function readText(key: KmsKey, { body }: Response, host: string): Promise<string> {
  if (body === null) return ''
  let size = 0
  let isHuge = false
  async function* limited() {
    for await (const chunk of body ?? []) {
      size += chunk.length
      isHuge = size > MAX_ANSWER_BYTES
      if (isHuge) return
      yield chunk
    }
  }
  let read: Buffer
  try {
    read = await buffer(limited())
  } catch {
    throw kmsFailure(key, `the answer of ${host} breaks off`)
  }
  if (isHuge) throw kmsFailure(key, `${host} answers with more than ${MAX_ANSWER_BYTES} bytes`)
  return read.toString('utf8')
}

/** The texts of a JSON object, also of objects in it by the path `a.b`; empty for anything else. */
export function textIn(text: string, path: string): string {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // an answer that is not JSON has no texts
    return ''
  }
  for (const step of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return ''
    value = (value as Record<string, unknown>)[step]
  }
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

/** A failure of the node that needs the data key; of the answer and the credential it has no more than a code. */
export function kmsFailure({ service, key }: Pick<KmsKey, 'service' | 'key'>, what: string, fix?: string) {
  return new BailiwickError('cluster-invalid', `cannot be decrypted: ${SERVICE_NAMES[service]} key ${key}: ${what}`, {
    fix,
  })
}

interface Held<T> {
  readonly of: string
  readonly token: T
  readonly until: number
}

/** A token that is about to end is not used. */
const SPARE_MS = 300_000

/** What a credential was exchanged for, until it ends or the credential is another one. In memory only. */
export class HeldTokens<T> {
  readonly #held = new Map<string, Held<T>>()

  /** `secret`: the credential as it is now. `exchange` says for how long the token counts, in ms since 1970. */
  async get(
    name: string,
    secret: string,
    now: number,
    exchange: () => Promise<{ readonly token: T; readonly until: number }>,
  ): Promise<T> {
    const of = hash('sha256', secret)
    const held = this.#held.get(name)
    if (held && held.of === of && held.until - SPARE_MS > now) return held.token
    const { token, until } = await exchange()
    this.#held.set(name, { of, token, until })
    return token
  }

  /** It is not accepted any more. */
  forget(name: string): void {
    this.#held.delete(name)
  }
}

const MAX_CREDENTIAL_BYTES = 64 * 1024

/** The text of a credential as it is now: it may rotate at any time. Throws `cluster-invalid`, without the text and the path. */
export async function readCredential(key: KmsKey, file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '')
  if (text.trim() !== '' && text.length <= MAX_CREDENTIAL_BYTES) return text.trim()
  throw unusable(key)
}

export function unusable(key: KmsKey) {
  const fix = 'Correct the file that this entry of `kmsKeys` names in clusters.yaml.'
  return kmsFailure(key, 'the credentials of the worker for it cannot be used', fix)
}
